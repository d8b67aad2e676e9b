//===- GradientAccumulator.h - Gradient sum over batches --------*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brew::runtime {

/// Sums the parameter gradients of several runs of forward_backward, each of
/// which overwrites them (iter_size). Adds in the plan's precision, batch after
/// batch, as Caffe does. Plans compiled for it have programs that add in place;
/// with other plans, whose iter_size was set only at run time, gradients are
/// added on the host.
class GradientAccumulator {
public:
  explicit GradientAccumulator(Executor &executor);

  /// Adds the gradients to the sum. Call after every run except the last.
  void add();
  /// Writes the sum to the gradient buffers and discards it. Call after the
  /// last run.
  void finish();
  /// Discards the sum.
  void discard();

private:
  struct HostSum {
    std::uint32_t buffer;
    plan::DataType type;
    std::size_t bytes;
    std::size_t offset; ///< of its sum in `sumBytes`
  };

  void listHostSums();

  Executor &executor;
  int addProgram, finishProgram; ///< -1: not in the plan
  std::vector<HostSum> hostSums;
  std::vector<std::byte> sumBytes; ///< in the layout of the buffers
  bool started = false;
};

} // namespace brew::runtime
