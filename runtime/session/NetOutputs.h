//===- NetOutputs.h - Outputs and losses of a program -----------*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"
#include "runtime/executor/Executor.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// Returns all elements of all outputs of the program that ran last, in Caffe's
/// order.
std::vector<OutputValue> readOutputs(const Executor &executor, int program);
/// Returns all elements of all outputs in the results of a run.
std::vector<OutputValue> readOutputs(const Executor &executor, int program,
                                     const RunResults &results);

/// Returns the total loss of the last run, or of `results`: the weighted sum of
/// the elements of all loss blobs, including those that are not outputs.
double totalLoss(const Executor &executor, int program);
double totalLoss(const Executor &executor, int program,
                 const RunResults &results);

/// Means of a net's outputs over several batches. An element that exists only
/// in some batches (of a blob with a dynamic number of items) is averaged over
/// those batches.
class OutputMeans {
public:
  void add(const std::vector<OutputValue> &outputs);
  /// Returns the means by blob, in the order of first appearance.
  std::vector<OutputValue> means() const;

private:
  struct Sums {
    std::string blob;
    double lossWeight;
    std::vector<double> totals;
    std::vector<int> batches; ///< number of batches that have the element
  };
  std::vector<Sums> blobs;
};

/// Returns Caffe's suffix " (* W = V loss)" for a loss, else "".
std::string lossSuffix(double lossWeight, double value);

} // namespace brew::runtime
