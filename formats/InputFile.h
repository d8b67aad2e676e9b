//===- InputFile.h - Plain or gzipped input ---------------------*- C++ -*-===//
//
// Sequential reading of a file that may be gzipped, whatever its name says.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>

struct gzFile_s;

namespace brew::formats {

class InputFile {
public:
  /// Error(3) if it cannot be opened.
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return filePath; }
  /// Up to `size` bytes; fewer only at the end. Error(1) if the compressed
  /// bytes are damaged or end early.
  size_t read(void *to, size_t size);
  /// Exactly `size` bytes, or an Error(1) that says what is missing.
  void readExactly(void *to, size_t size, const std::string &what);
  /// Whether nothing is left.
  bool atEnd();

private:
  std::string filePath;
  gzFile_s *file;
};

} // namespace brew::formats
