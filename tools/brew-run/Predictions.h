//===- Predictions.h - Printer of predictions -------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::run {

/// Reads a file with one class name per line; returns no names for "". Throws
/// Error (3) if it cannot be read.
std::vector<std::string> readLabels(const std::string &path);

/// Prints the predictions for samples, in the format of Caffe's
/// `classification` or as one JSON object per line.
class PredictionPrinter {
public:
  /// `labels`: a file with one class name per line, or "". Throws Error (3) if
  /// it cannot be read.
  PredictionPrinter(std::string labels, std::int64_t top, bool json);

  /// Prints the highest of `classes` scores, which are from `blob`. `label` is
  /// the true label, if known. Throws Error (1) if the number of names differs.
  void printClasses(const std::string &sample, std::optional<int> label,
                    const float *scores, std::size_t classes,
                    const std::string &blob) const;

  /// Prints the rows of image number `image`. A row consists of image, class,
  /// score, left, top, right and bottom; the last four are relative to the
  /// image size.
  void printDetections(const std::string &sample, float image,
                       const std::vector<float> &rows,
                       std::size_t rowSize) const;

private:
  std::string className(std::size_t index) const {
    return index < names.size() ? names[index] : std::to_string(index);
  }

  std::string file;
  std::vector<std::string> names;
  std::size_t top;
  bool asJson;
};

} // namespace brew::run
