//===- FileChecksum.cpp - CRC-32 of bytes and of files --------------------===//
#include "support/FileChecksum.h"

#include "support/AtomicFile.h"
#include "support/Error.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace brew {
namespace {

constexpr std::string_view kLinePrefix = "\nbrew-crc32 ";
constexpr size_t kLineBytes = kLinePrefix.size() + 9; // 8 digits, end of line

/// An open file. Its destructor closes it.
class FileReader {
public:
  explicit FileReader(const std::string &path)
      : path(path), fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~FileReader() {
    if (fd >= 0)
      close(fd);
  }
  FileReader(const FileReader &) = delete;
  FileReader &operator=(const FileReader &) = delete;

  bool isOpen() const { return fd >= 0; }
  /// Returns the size of a regular file, otherwise 0.
  uint64_t size() const {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode)
               ? static_cast<uint64_t>(info.st_size)
               : 0;
  }
  /// Reads up to `maxBytes` bytes from the current position; returns 0 at the
  /// end.
  size_t read(void *buffer, size_t maxBytes) {
    for (;;) {
      const ssize_t n = ::read(fd, buffer, maxBytes);
      if (n >= 0)
        return static_cast<size_t>(n);
      if (errno != EINTR)
        fail();
    }
  }
  [[noreturn]] void fail() const {
    throw unavailable("cannot read '" + path + "': " + errnoText(errno));
  }

private:
  std::string path;
  int fd;
};

/// Returns the checksum of at most `limit` bytes from the current position.
FileChecksum checksumOf(FileReader &file, uint64_t limit) {
  std::vector<char> buffer(1 << 18);
  Crc32 crc;
  FileChecksum checksum;
  while (checksum.size < limit) {
    const size_t n =
        file.read(buffer.data(),
                  std::min<uint64_t>(buffer.size(), limit - checksum.size));
    if (n == 0)
      break;
    crc.add(buffer.data(), n);
    checksum.size += n;
  }
  checksum.crc = crc.value();
  return checksum;
}

/// Returns the checksum line with the value `crc`.
std::string lineWithChecksum(uint32_t crc) {
  char digits[10];
  std::snprintf(digits, sizeof digits, "%08x\n", unsigned(crc));
  return std::string(kLinePrefix) + digits;
}

} // namespace

void Crc32::add(const void *bytes, size_t size) {
  if (size != 0) // zlib returns its initial value if `bytes` is null
    crc = static_cast<uint32_t>(
        crc32_z(crc, static_cast<const Bytef *>(bytes), size));
}

FileChecksum checksumOfFile(const std::string &path) {
  FileReader file(path);
  if (!file.isOpen())
    file.fail();
  return checksumOf(file, UINT64_MAX);
}

std::string checksumLine(std::string_view bytes) {
  Crc32 crc;
  crc.add(bytes.data(), bytes.size());
  return lineWithChecksum(crc.value());
}

void verifyChecksumLine(const std::string &path, const std::string &kind) {
  FileReader file(path);
  const uint64_t size = file.isOpen() ? file.size() : 0;
  if (size < kLineBytes)
    return;
  const FileChecksum content = checksumOf(file, size - kLineBytes);
  std::string line(kLineBytes, '\0');
  for (size_t bytesRead = 0; bytesRead < line.size();) {
    const size_t n =
        file.read(line.data() + bytesRead, line.size() - bytesRead);
    if (n == 0)
      return; // the file was truncated
    bytesRead += n;
  }
  if (std::string_view(line).substr(0, kLinePrefix.size()) == kLinePrefix &&
      line != lineWithChecksum(content.crc))
    throw badInput(path + ": damaged " + kind + ": its checksum is wrong");
}

} // namespace brew
