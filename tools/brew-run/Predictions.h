//===- Predictions.h - Printer of predictions -------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::run {

/// Reads a file with one class name per line; returns no names for "". Throws
/// Error (3) if the file cannot be read, Error (1) if it is empty.
std::vector<std::string> readLabels(const std::string &path);

/// Prints the predictions for samples, in the format of Caffe's
/// `classification` or as one JSON object per line.
class PredictionPrinter {
public:
  /// `labels`: see readLabels(). `topCount`: maximum number of classes to print
  /// per sample.
  PredictionPrinter(std::string labels, std::int64_t topCount, bool json);

  /// Sets the class names, unless there is a file of labels. A blob with
  /// another number of classes drops them, with a warning.
  void setDefaultNames(std::vector<std::string> labels) {
    defaultNames = std::move(labels);
  }

  /// Prints the classes with the highest scores. `scores` has `classes` values
  /// from `blob`. `label` is the true label, if known. Throws Error (1) if the
  /// number of class names is not `classes`.
  void printClasses(const std::string &sample, std::optional<int> label,
                    const float *scores, std::size_t classes,
                    const std::string &blob);

  /// Prints those `rows` that belong to image number `image`. A row consists of
  /// image, class, score, left, top, right and bottom; the last four are
  /// relative to the image size.
  void printDetections(const std::string &sample, float image,
                       const std::vector<float> &rows,
                       std::size_t rowSize) const;

private:
  std::string className(std::size_t index) const {
    return index < names.size() ? names[index] : std::to_string(index);
  }

  std::string labelFile;
  std::vector<std::string> names, defaultNames;
  std::size_t top;
  bool asJson;
};

} // namespace brew::run
