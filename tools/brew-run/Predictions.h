//===- Predictions.h - What infer prints ------------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::run {

/// A file with a class name per line; none for "". Error (3) if it cannot be
/// read.
std::vector<std::string> readLabels(const std::string &path);

/// Prints what a net says of a sample: as Caffe's `classification` does, or as
/// a JSON object on a line of its own.
class PredictionPrinter {
public:
  /// `labels`: a file with a class name per line, or "". Error (3) if it cannot
  /// be read.
  PredictionPrinter(std::string labels, std::int64_t top, bool json);

  /// The best of `classes` scores; `blob` holds them. `label` is what the
  /// source says it is. Error (1) if there is another number of names.
  void printClasses(const std::string &sample, std::optional<int> label,
                    const float *scores, std::size_t classes,
                    const std::string &blob) const;

  /// The rows that are of image number `image`: image, class, score, left, top,
  /// right, bottom, the last four as shares of the image.
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
