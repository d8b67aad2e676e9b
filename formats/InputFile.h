//===- InputFile.h - Plain or gzipped input ---------------------*- C++ -*-===//
//
// Sequential reading of a file that may be gzipped, regardless of its name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>

struct gzFile_s;

namespace brew::formats {

class InputFile {
public:
  /// Error(3) if the file cannot be opened.
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return filePath; }
  /// Reads up to `size` bytes; fewer only at the end. Error(1) if the
  /// compressed bytes are damaged or truncated.
  size_t read(void *to, size_t size);
  /// Reads exactly `size` bytes. Throws Error(1), naming `what`, if the file
  /// ends before.
  void readExactly(void *to, size_t size, const std::string &what);
  /// Returns whether all bytes have been read.
  bool atEnd();

private:
  std::string filePath;
  gzFile_s *file;
};

} // namespace brew::formats
