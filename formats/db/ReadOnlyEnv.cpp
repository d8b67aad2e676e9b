//===- ReadOnlyEnv.cpp - Read-only environment for LevelDB ----------------===//
#include "formats/db/ReadOnlyEnv.h"

#include "support/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace brew::formats {

using leveldb::Slice;
using leveldb::Status;

struct ReadOnlyEnv::MemoryFile {
  std::mutex mutex;
  std::string bytes;

  size_t read(uint64_t offset, size_t n, char *buffer) {
    std::lock_guard<std::mutex> lock(mutex);
    if (offset >= bytes.size())
      return 0;
    n = std::min<size_t>(n, bytes.size() - offset);
    std::memcpy(buffer, bytes.data() + offset, n);
    return n;
  }
};

namespace {

using MemoryFile = ReadOnlyEnv::MemoryFile;
using SharedFlag = std::shared_ptr<std::atomic<bool>>;

class MemorySequential : public leveldb::SequentialFile {
public:
  explicit MemorySequential(std::shared_ptr<MemoryFile> file)
      : file(std::move(file)) {}
  Status Read(size_t n, Slice *result, char *scratch) override {
    n = file->read(position, n, scratch);
    position += n;
    *result = Slice(scratch, n);
    return Status::OK();
  }
  Status Skip(uint64_t n) override {
    position += n;
    return Status::OK();
  }

private:
  std::shared_ptr<MemoryFile> file;
  uint64_t position = 0;
};

class MemoryRandom : public leveldb::RandomAccessFile {
public:
  explicit MemoryRandom(std::shared_ptr<MemoryFile> file)
      : file(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice *result,
              char *scratch) const override {
    *result = Slice(scratch, file->read(offset, n, scratch));
    return Status::OK();
  }

private:
  std::shared_ptr<MemoryFile> file;
};

class MemoryWriter : public leveldb::WritableFile {
public:
  MemoryWriter(std::shared_ptr<MemoryFile> file, SharedFlag frozen)
      : file(std::move(file)), frozen(std::move(frozen)) {}
  Status Append(const Slice &data) override {
    if (frozen->load())
      return Status::IOError("opened for reading only");
    std::lock_guard<std::mutex> lock(file->mutex);
    file->bytes.append(data.data(), data.size());
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

private:
  std::shared_ptr<MemoryFile> file;
  SharedFlag frozen;
};

/// A file on disk, read with pread(). LevelDB's own environment maps files into
/// memory, where a failed read raises a signal instead of returning an error.
class DiskRandom : public leveldb::RandomAccessFile {
public:
  DiskRandom(std::string name, int fd) : name(std::move(name)), fd(fd) {}
  ~DiskRandom() override { ::close(fd); }
  Status Read(uint64_t offset, size_t n, Slice *result,
              char *scratch) const override {
    size_t bytesRead = 0;
    while (bytesRead < n) {
      const ssize_t count = ::pread(fd, scratch + bytesRead, n - bytesRead,
                                    static_cast<off_t>(offset + bytesRead));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0) {
        *result = Slice();
        return Status::IOError(name, errnoText(errno));
      }
      if (count == 0)
        break; // the caller checks the size
      bytesRead += static_cast<size_t>(count);
    }
    *result = Slice(scratch, bytesRead);
    return Status::OK();
  }

private:
  std::string name;
  int fd;
};

class NoLock : public leveldb::FileLock {};

class NoLogger : public leveldb::Logger {
public:
  void Logv(const char *, std::va_list) override {}
};

} // namespace

ReadOnlyEnv::ReadOnlyEnv()
    : EnvWrapper(leveldb::Env::Default()),
      frozen(std::make_shared<std::atomic<bool>>(false)) {}
ReadOnlyEnv::~ReadOnlyEnv() = default;

std::shared_ptr<MemoryFile> ReadOnlyEnv::findInMemory(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = files.find(name);
  return found == files.end() ? nullptr : found->second;
}

bool ReadOnlyEnv::isRemoved(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  return removedFiles.count(name) != 0;
}

Status ReadOnlyEnv::NewSequentialFile(const std::string &name,
                                      leveldb::SequentialFile **result) {
  *result = nullptr;
  if (auto file = findInMemory(name)) {
    *result = new MemorySequential(std::move(file));
    return Status::OK();
  }
  if (isRemoved(name))
    return Status::NotFound(name);
  return target()->NewSequentialFile(name, result);
}

Status ReadOnlyEnv::NewRandomAccessFile(const std::string &name,
                                        leveldb::RandomAccessFile **result) {
  *result = nullptr;
  if (auto file = findInMemory(name)) {
    *result = new MemoryRandom(std::move(file));
    return Status::OK();
  }
  if (isRemoved(name))
    return Status::NotFound(name);
  const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    return Status::NotFound(name, errnoText(errno));
  if (fd < 0)
    return Status::IOError(name, errnoText(errno));
  *result = new DiskRandom(name, fd);
  return Status::OK();
}

Status ReadOnlyEnv::NewWritableFile(const std::string &name,
                                    leveldb::WritableFile **result) {
  *result = nullptr;
  if (frozen->load())
    return Status::IOError(name, "opened for reading only");
  auto file = std::make_shared<MemoryFile>();
  {
    std::lock_guard<std::mutex> lock(mutex);
    files[name] = file;
    removedFiles.erase(name);
  }
  *result = new MemoryWriter(std::move(file), frozen);
  return Status::OK();
}

Status ReadOnlyEnv::NewAppendableFile(const std::string &name,
                                      leveldb::WritableFile **result) {
  // LevelDB calls this function only to reuse logs, which readers do not do.
  *result = nullptr;
  return Status::NotSupported(name, "appending");
}

bool ReadOnlyEnv::FileExists(const std::string &name) {
  return findInMemory(name) || (!isRemoved(name) && target()->FileExists(name));
}

Status ReadOnlyEnv::GetChildren(const std::string &folder,
                                std::vector<std::string> *result) {
  std::vector<std::string> diskNames;
  Status status = target()->GetChildren(folder, &diskNames);
  if (!status.ok())
    return status;
  std::string prefix = folder + "/";
  std::lock_guard<std::mutex> lock(mutex);
  std::set<std::string> names;
  for (const std::string &name : diskNames)
    if (removedFiles.count(prefix + name) == 0)
      names.insert(name);
  for (const auto &[name, file] : files)
    if (name.compare(0, prefix.size(), prefix) == 0)
      names.insert(name.substr(prefix.size()));
  result->assign(names.begin(), names.end());
  return Status::OK();
}

Status ReadOnlyEnv::RemoveFile(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  files.erase(name);
  removedFiles.insert(name);
  return Status::OK();
}

Status ReadOnlyEnv::CreateDir(const std::string &) { return Status::OK(); }
Status ReadOnlyEnv::RemoveDir(const std::string &) { return Status::OK(); }

Status ReadOnlyEnv::GetFileSize(const std::string &name, uint64_t *size) {
  if (auto file = findInMemory(name)) {
    std::lock_guard<std::mutex> lock(file->mutex);
    *size = file->bytes.size();
    return Status::OK();
  }
  if (isRemoved(name))
    return Status::NotFound(name);
  return target()->GetFileSize(name, size);
}

Status ReadOnlyEnv::RenameFile(const std::string &from, const std::string &to) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = files.find(from);
  if (found == files.end())
    return Status::NotFound(from); // files on disk are not renamed
  auto file = found->second;
  files.erase(found);
  files[to] = std::move(file);
  removedFiles.erase(to);
  return Status::OK();
}

Status ReadOnlyEnv::LockFile(const std::string &, leveldb::FileLock **lock) {
  *lock = new NoLock;
  return Status::OK();
}

Status ReadOnlyEnv::UnlockFile(leveldb::FileLock *lock) {
  delete lock;
  return Status::OK();
}

Status ReadOnlyEnv::NewLogger(const std::string &, leveldb::Logger **result) {
  *result = new NoLogger;
  return Status::OK();
}

} // namespace brew::formats
