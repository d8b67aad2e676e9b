//===- AtomicFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Snapshots must survive a full disk and a kill at any moment: bytes go to a
// temporary name in the target's folder, are flushed to the device, and only
// then take the target's name. Until commit() returns, whatever stood under
// that name is untouched.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace brew {

/// A file being written. Every failure is an Error(3) that names the target and
/// the system's reason; the temporary is gone by then.
///
/// A symbolic link is written through. A target that exists and is no regular
/// file (a device, a pipe) cannot be replaced, so it is written directly.
///
/// Where a file size limit is set, the process must ignore SIGXFSZ to get the
/// error instead of the signal.
class AtomicFile {
public:
  /// Creates the temporary. The folder must exist.
  explicit AtomicFile(const std::string &path);
  /// Discards everything unless commit() was called.
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *bytes, size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }

  /// Flushes to the device and takes the target's name. Call once, last.
  void commit();

  const std::string &path() const { return shownPath; }

private:
  void flush();
  void discard() noexcept;
  [[noreturn]] void fail(int error);

  std::string shownPath;     ///< as the caller named it
  std::string targetPath;    ///< with symbolic links resolved
  std::string temporaryPath; ///< empty: written directly
  std::vector<char> buffer;
  int fd = -1;
};

/// The Error(3) of a file that cannot be begun at `path`, before there is
/// anything to write to it. Leaves everything as it was.
void requireWritable(const std::string &path);

/// Writes `bytes` to `path` atomically.
void writeFileAtomically(const std::string &path, std::string_view bytes);

/// Flushes a folder's entries (new and renamed files) to the device.
/// Errors that only mean "this file system cannot" are ignored.
void syncFolder(const std::string &folder);

/// What the system says about an errno value.
std::string errnoText(int error);

} // namespace brew
