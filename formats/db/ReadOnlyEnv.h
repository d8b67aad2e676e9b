//===- ReadOnlyEnv.h - LevelDB without writing ------------------*- C++ -*-===//
//
// LevelDB cannot open a database without writing to its folder: it takes a
// lock, replays the log into new files and compacts. This environment keeps all
// of that in memory, so a database can lie on a read-only medium and be read by
// several programs at once. Private to formats.
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

/// Reads go to the real files, writes to memory.
class ReadOnlyEnv : public leveldb::EnvWrapper {
public:
  ReadOnlyEnv();
  ~ReadOnlyEnv() override;

  /// From here on no more may be written. Call when the database is open: the
  /// replayed log is in memory then, and a compaction, which would copy the
  /// database there, fails at its first byte and is not tried again.
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

  struct MemoryFile; ///< shared by the map and whoever has it open

private:
  std::shared_ptr<MemoryFile> find(const std::string &name);
  bool removed(const std::string &name);

  std::mutex mutex; ///< guards the two below
  std::map<std::string, std::shared_ptr<MemoryFile>> files;
  std::set<std::string> removedFiles; ///< real files the database let go
  std::shared_ptr<std::atomic<bool>> frozen;
};

} // namespace brew::formats
