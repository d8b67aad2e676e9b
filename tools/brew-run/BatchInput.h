//===- BatchInput.h - Batch input of a program ------------------*- C++ -*-===//
#pragma once

#include "Session.h"

namespace brew::run {

/// The first input of a program with a batch dimension. Other inputs, such as
/// labels, are set to 0: they do not affect predictions.
class BatchInput {
public:
  /// `session` must outlive this object. Throws Error (1) if there is no such
  /// input.
  BatchInput(Session &session, int program);

  const std::string &name() const { return input; }
  std::int64_t batch() const { return size; }
  /// Returns the shape of one sample: all dimensions except the batch.
  const std::vector<std::int64_t> &rowShape() const { return shape; }
  std::size_t rowSize() const { return sampleSize; }
  /// Returns the transform for images that the plan records.
  std::optional<brew_input_transform> transform() const {
    return session.plan.inputTransform(program, input);
  }

  /// Feeds up to batch() samples of rowSize() values, padded with zeros to a
  /// full batch, and runs the program.
  void run(const std::vector<const float *> &samples);

private:
  Session &session;
  int program;
  std::string input;
  std::int64_t size = 0;
  std::vector<std::int64_t> shape;
  std::size_t sampleSize = 1;
};

/// The options for images, which replace the transform of the plan.
struct ImageOptions {
  std::string mean; ///< "": not set
  std::optional<float> scale;
  bool isEmpty() const { return mean.empty() && !scale; }
};

/// Declares --mean and --scale.
void addImageOptions(CLI::App &command, ImageOptions &options);

/// Opens a source of samples with the shape `dims` for `input`.
api::Records openRecords(const std::string &path,
                         const std::vector<std::int64_t> &dims,
                         const std::string &input, const ImageOptions &options,
                         const std::optional<brew_input_transform> &transform);

/// Warns that images are fed as values from 0 to 255 if neither the plan nor
/// the options say how to prepare them.
void warnOfRawImages(const ImageOptions &options,
                     const std::optional<brew_input_transform> &transform);

} // namespace brew::run
