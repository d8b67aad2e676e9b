//===- MnistCifar.h - Published files of MNIST and CIFAR-10 -----*- C++ -*-===//
//
// Readers of the published files of both data sets, plain or gzipped.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/InputFile.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::formats {

/// Reads a pair of IDX files image by image. Throws Error(3) for a missing
/// file, Error(1) for wrong magic numbers, counts that differ, truncation,
/// bytes after the end, or a label outside [0, classes).
class MnistReader {
public:
  MnistReader(const std::string &images, const std::string &labels,
              int classes = 10);

  int rows() const { return imageRows; }
  int columns() const { return imageColumns; }
  uint32_t count() const { return total; }

  /// Reads the next image (rows x columns bytes) and its label. Returns false
  /// at the end, after checking that both files end.
  bool next(std::vector<uint8_t> &pixels, int &label);

private:
  InputFile images, labels;
  int classes;
  int imageRows = 0, imageColumns = 0;
  uint32_t total = 0, readCount = 0;
};

/// Reads a CIFAR-10 binary batch: records of a label byte and 3x32x32 bytes.
class CifarReader {
public:
  static constexpr int channels = 3, rows = 32, columns = 32;
  static constexpr size_t imageBytes = size_t(channels) * rows * columns;

  explicit CifarReader(const std::string &path) : file(path) {}

  /// Reads the next image. Returns false at the end. Throws Error(1) for
  /// an incomplete record, a label above 9, or a file without records.
  bool next(std::array<uint8_t, imageBytes> &pixels, int &label);

private:
  InputFile file;
  uint64_t readCount = 0;
};

} // namespace brew::formats
