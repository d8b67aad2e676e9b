//===- BatchInput.h - The input that samples go into ------------*- C++ -*-===//
#pragma once

#include "Session.h"

namespace brew::run {

/// The first input of a program that has a batch of samples. Other inputs
/// (labels and the like) are zeros: they do not matter for what is predicted.
class BatchInput {
public:
  /// `session` outlives it. Error (1) if the program has no such input.
  BatchInput(Session &session, int program);

  const std::string &name() const { return input; }
  std::int64_t batch() const { return size; }
  /// What one sample has: the dimensions but the batch.
  const std::vector<std::int64_t> &rowShape() const { return shape; }
  std::size_t rowSize() const { return row; }

  /// Feeds the samples, of rowSize() values each and a batch at most, and zeros
  /// in place of those that lack, and runs the program.
  void run(const std::vector<const float *> &samples);

private:
  Session &session;
  int program;
  std::string input;
  std::int64_t size = 0;
  std::vector<std::int64_t> shape;
  std::size_t row = 1;
};

/// Opens what samples are read from, each in shape `dims`, for `input`. `mean`
/// and `scale`: of the command line, for images.
api::Records openRecords(const std::string &path,
                         const std::vector<std::int64_t> &dims,
                         const std::string &input, const std::string &mean,
                         float scale);

} // namespace brew::run
