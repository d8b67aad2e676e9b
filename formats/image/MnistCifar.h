//===- MnistCifar.h - MNIST's and CIFAR-10's own files -----------*- C++ -*-===//
//
// Readers for the two data sets' published files, plain or gzipped.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/InputFile.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::formats {

/// A pair of IDX files read image by image. Errors: Error(3) for a missing
/// file, Error(1) for wrong magic numbers, counts that differ, truncation,
/// bytes after the end, or a label outside [0, classes).
class MnistReader {
public:
  MnistReader(const std::string &images, const std::string &labels,
              int classes = 10);

  int rows() const { return imageRows; }
  int columns() const { return imageColumns; }
  uint32_t count() const { return total; }

  /// Fetches the next image (rows x columns bytes) and its label; false at the
  /// end, after checking that both files end there.
  bool next(std::vector<uint8_t> &pixels, int &label);

private:
  InputFile images, labels;
  int classes;
  int imageRows = 0, imageColumns = 0;
  uint32_t total = 0, done = 0;
};

/// One CIFAR-10 binary batch: records of a label byte and 3x32x32 bytes.
class CifarReader {
public:
  static constexpr int channels = 3, rows = 32, columns = 32;
  static constexpr size_t imageBytes = size_t(channels) * rows * columns;

  explicit CifarReader(const std::string &path) : file(path) {}

  /// Fetches the next image; false at the end. Error(1) for a part of a record,
  /// a label above 9, or a file without any record.
  bool next(std::array<uint8_t, imageBytes> &pixels, int &label);

private:
  InputFile file;
  uint64_t done = 0;
};

} // namespace brew::formats
