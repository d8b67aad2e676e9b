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
  /// Throws Error(3) if the file cannot be opened, Error(1) if it is a folder.
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return filePath; }
  /// Reads up to `size` bytes and returns their number, which is smaller only
  /// at the end. Throws Error(3) if the file cannot be read, Error(1) if its
  /// compressed bytes are damaged or truncated.
  size_t read(void *buffer, size_t size);
  /// Reads exactly `size` bytes. Throws Error(1) if the file ends earlier;
  /// `subject` names the bytes in its text.
  void readExactly(void *buffer, size_t size, const std::string &subject);
  /// Returns whether all bytes have been read.
  bool atEnd();

private:
  std::string filePath;
  gzFile_s *file;
};

} // namespace brew::formats
