//===- AtomicFile.cpp - Atomic replacement of files -----------------------===//
#include "support/AtomicFile.h"

#include "support/Error.h"
#include "support/TemporaryName.h"
#include "support/WriteAll.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace brew {
namespace {

constexpr size_t bufferBytes = 1 << 18;

std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

} // namespace

std::string errnoText(int error) {
  return std::generic_category().message(error);
}

AtomicFile::AtomicFile(const std::string &path)
    : shownPath(path), targetPath(path) {
  buffer.reserve(bufferBytes);
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    fail(EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
      fail(errno);
    return;
  }
  if (exists) {
    std::error_code error;
    auto resolved = std::filesystem::canonical(path, error);
    if (!error)
      targetPath = resolved.string();
  }
  // A file of a killed process with the same pid may remain.
  for (int attempt = 0; attempt < 100 && fd < 0; ++attempt) {
    temporaryPath = temporaryName(targetPath);
    fd = open(temporaryPath.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
              0666);
    if (fd < 0 && errno != EEXIST)
      break;
  }
  if (fd < 0) {
    int error = errno;
    temporaryPath.clear(); // so that it is not removed
    fail(error);
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (fd >= 0)
    close(fd);
  fd = -1;
  if (!temporaryPath.empty())
    unlink(temporaryPath.c_str());
  temporaryPath.clear();
}

void AtomicFile::fail(int error) {
  discard();
  throw unavailable("cannot write '" + shownPath + "': " + errnoText(error));
}

void AtomicFile::write(const void *bytes, size_t size) {
  const char *source = static_cast<const char *>(bytes);
  while (size > 0) {
    if (buffer.size() == bufferBytes)
      flush();
    size_t chunk = std::min(size, bufferBytes - buffer.size());
    buffer.insert(buffer.end(), source, source + chunk);
    source += chunk;
    size -= chunk;
  }
}

void AtomicFile::flush() {
  if (fd < 0)
    throw Error(ExitStatus::Bug,
                "'" + shownPath + "' is written after its end");
  if (const int error = writeAll(fd, {buffer.data(), buffer.size()}))
    fail(error);
  buffer.clear();
}

void AtomicFile::commit() {
  flush();
  // Devices and pipes have nothing to flush and return an error.
  if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
    fail(errno);
  int descriptor = fd;
  fd = -1;
  if (close(descriptor) != 0 && errno != EINTR)
    fail(errno);
  if (temporaryPath.empty())
    return;
  if (rename(temporaryPath.c_str(), targetPath.c_str()) != 0)
    fail(errno);
  temporaryPath.clear();
  syncFolder(folderOf(targetPath));
}

void syncFolder(const std::string &folder) {
  int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return; // the folder may be writable but not readable
  int rc = fsync(fd);
  int error = errno;
  close(fd);
  if (rc != 0 && error != EINVAL && error != ENOTSUP && error != EROFS)
    throw unavailable("cannot write folder '" + folder +
                      "': " + errnoText(error));
}

void requireWritable(const std::string &path) {
  // If this function opened and closed a pipe, its reader would see an end of
  // file.
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))
    return;
  AtomicFile probe(path);
}

void writeFileAtomically(const std::string &path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

} // namespace brew
