//===- ReadOnlyEnv.h - Read-only environment for LevelDB --------*- C++ -*-===//
//
// LevelDB cannot open a database without writing to its folder: it takes a
// lock, replays the log into new files and compacts. This environment redirects
// all writes to memory, so that a database can be on a read-only medium and
// several programs can read it concurrently. Private to formats.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <leveldb/env.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace brew::formats {

/// An environment that reads files from disk and writes files in memory.
class ReadOnlyEnv : public leveldb::EnvWrapper {
public:
  ReadOnlyEnv();
  ~ReadOnlyEnv() override;

  /// Makes all later writes fail. Call it when the database is open and the
  /// replayed log is in memory. A compaction, which would copy the database to
  /// memory, then fails at its first byte and is not retried.
  void freeze() { frozen->store(true); }

  leveldb::Status NewSequentialFile(const std::string &name,
                                    leveldb::SequentialFile **result) override;
  leveldb::Status
  NewRandomAccessFile(const std::string &name,
                      leveldb::RandomAccessFile **result) override;
  leveldb::Status NewWritableFile(const std::string &name,
                                  leveldb::WritableFile **result) override;
  leveldb::Status NewAppendableFile(const std::string &name,
                                    leveldb::WritableFile **result) override;
  bool FileExists(const std::string &name) override;
  leveldb::Status GetChildren(const std::string &folder,
                              std::vector<std::string> *result) override;
  leveldb::Status RemoveFile(const std::string &name) override;
  leveldb::Status CreateDir(const std::string &name) override;
  leveldb::Status RemoveDir(const std::string &name) override;
  leveldb::Status GetFileSize(const std::string &name, uint64_t *size) override;
  leveldb::Status RenameFile(const std::string &from,
                             const std::string &to) override;
  leveldb::Status LockFile(const std::string &name,
                           leveldb::FileLock **lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock *lock) override;
  leveldb::Status NewLogger(const std::string &name,
                            leveldb::Logger **result) override;

  struct MemoryFile; ///< shared by the map and open handles

private:
  /// Returns the file in memory, or nullptr if there is none.
  std::shared_ptr<MemoryFile> findInMemory(const std::string &name);
  bool isRemoved(const std::string &name);

  std::mutex mutex; ///< guards `files` and `removedFiles`
  std::map<std::string, std::shared_ptr<MemoryFile>> files;
  std::set<std::string> removedFiles; ///< files on disk that LevelDB removed
  std::shared_ptr<std::atomic<bool>> frozen;
};

} // namespace brew::formats
