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

/// Opens a source of samples with the shape `dims` for `input`. `mean` and
/// `scale` are the options for images.
api::Records openRecords(const std::string &path,
                         const std::vector<std::int64_t> &dims,
                         const std::string &input, const std::string &mean,
                         float scale);

} // namespace brew::run
