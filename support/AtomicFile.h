//===- AtomicFile.h - Atomic replacement of files ---------------*- C++ -*-===//
//
// Snapshots must survive a full disk and a kill at any moment. Bytes go to a
// temporary file in the target's folder, are flushed to the device, and only
// then is the file renamed to the target. Until commit(), an existing target is
// untouched.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace brew {

/// A file that replaces its target atomically. A failure removes the temporary
/// file and throws Error(3) with the target and the system's reason.
///
/// If the target is a symbolic link, the file it points to is replaced. A
/// target that exists and is not a regular file (a device, a pipe) cannot be
/// replaced, so it is written directly.
///
/// With a file size limit, the process must ignore SIGXFSZ to get the error
/// instead of the signal.
class AtomicFile {
public:
  /// Creates the temporary file. The folder must exist.
  explicit AtomicFile(const std::string &path);
  /// Removes the temporary file unless commit() was called.
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *bytes, size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }

  /// Flushes to the device and replaces the target. Must be called once, last.
  void commit();

  const std::string &path() const { return shownPath; }

private:
  void flush();
  void discard() noexcept;
  [[noreturn]] void fail(int error);

  std::string shownPath;     ///< the path passed by the caller
  std::string targetPath;    ///< with symbolic links resolved
  std::string temporaryPath; ///< empty: the target is written directly
  std::vector<char> buffer;
  int fd = -1;
};

/// Throws Error(3) if AtomicFile could not create a file at `path`. Changes
/// nothing.
void requireWritable(const std::string &path);

/// Writes `bytes` to `path` atomically.
void writeFileAtomically(const std::string &path, std::string_view bytes);

/// Flushes a folder's entries (new and renamed files) to the device. Throws
/// Error(3) if that fails; no-op if the folder cannot be opened or its file
/// system does not support the operation.
void syncFolder(const std::string &folder);

/// Returns the system's description of an errno value.
std::string errnoText(int error);

} // namespace brew
