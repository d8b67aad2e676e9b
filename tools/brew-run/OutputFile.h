//===- OutputFile.h - A text that appears whole or not at all ---*- C++ -*-===//
#pragma once

#include <fstream>
#include <string>

namespace brew::run {

/// A file under a temporary name in the target's folder, until commit() gives
/// it the target's. Every failure is an Error (3) that names the target.
class OutputFile {
public:
  /// Creates the temporary, so that a bad path is known before there is
  /// anything to write. A device or pipe is written directly.
  explicit OutputFile(const std::string &path);
  /// Discards everything unless commit() was called.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Writes all there is to write.
  void commit(const std::string &text);

private:
  [[noreturn]] void fail();

  std::string path;      ///< as the user named it
  std::string target;    ///< with symbolic links resolved
  std::string temporary; ///< empty: written directly, or done
  std::ofstream stream;
};

} // namespace brew::run
