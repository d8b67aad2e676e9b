//===- LearningRate.h - Caffe's learning-rate policies ----------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <functional>

namespace brew::caffe {

/// Computes the learning rate of each iteration by one of Caffe's seven
/// policies:
///   fixed      base_lr
///   step       base_lr * gamma ^ floor(iter / stepsize)
///   exp        base_lr * gamma ^ iter
///   inv        base_lr * (1 + gamma * iter) ^ -power
///   multistep  base_lr * gamma ^ (number of stepvalues reached)
///   poly       base_lr * (1 - iter / max_iter) ^ power
///   sigmoid    base_lr / (1 + exp(-gamma * (iter - stepsize)))
class LearningRate {
public:
  /// Throws Error (1) if the policy is unknown, or a field it needs is missing
  /// or out of range. Copies the fields it needs.
  explicit LearningRate(const caffe::SolverParameter &parameter);

  /// Returns the learning rate of iteration `iteration`. `currentStep` is the
  /// solver's step counter, part of its snapshots. As in Caffe, `step` sets it
  /// and `multistep` increments it by at most one per call.
  double at(int iteration, int &currentStep) const;

private:
  std::function<double(int, int &)> policy;
};

} // namespace brew::caffe
