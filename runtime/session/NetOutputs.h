//===- NetOutputs.h - What a program's run reports --------------*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"
#include "runtime/events/Events.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// All elements of all outputs of the program that ran last, in Caffe's order.
std::vector<OutputValue> readOutputs(const Executor &executor, int program);
/// Likewise, from what a run left.
std::vector<OutputValue> readOutputs(const Executor &executor, int program,
                                     const RunResults &results);

/// The loss that run minimises: every loss blob's elements times its weight,
/// outputs or not.
double totalLoss(const Executor &executor, int program);
double totalLoss(const Executor &executor, int program,
                 const RunResults &results);

/// Means of a net's outputs over several batches. An element that only some of
/// them have (of a blob whose number of items the data decide) is averaged over
/// those.
class OutputMeans {
public:
  void add(const std::vector<OutputValue> &outputs);
  /// Blob by blob, in the order in which they first came.
  std::vector<OutputValue> means() const;

private:
  struct Sums {
    std::string blob;
    double lossWeight;
    std::vector<double> totals;
    std::vector<int> batches; ///< that had the element
  };
  std::vector<Sums> blobs;
};

/// " (* W = V loss)" for a loss, else nothing; how Caffe ends such lines.
std::string lossSuffix(double lossWeight, double value);

} // namespace brew::runtime
