//===- PrefixLock.h - Exclusive use of a snapshot prefix --------*- C++ -*-===//
#pragma once

#include <memory>
#include <string>

namespace brew::runtime {

/// A lock of a snapshot prefix, so that no other process writes snapshots of
/// the same names: the file PREFIX.lock, which the last lock of the process
/// removes. Objects of one process share it. The system releases it if the
/// process is killed; child processes do not inherit it.
class PrefixLock {
public:
  /// Throws Error (3) if another process has the lock. No-op if the file cannot
  /// be created or the file system has no locks.
  explicit PrefixLock(const std::string &prefix);
  PrefixLock(PrefixLock &&) noexcept = default;
  PrefixLock &operator=(const PrefixLock &) = delete;
  ~PrefixLock();

private:
  class File;
  struct Files;
  std::shared_ptr<File> file;
};

} // namespace brew::runtime
