//===- GradientAccumulator.h - Gradient sum over batches --------*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brew::runtime {

/// Sums the parameter gradients of the iter_size batches of an iteration, since
/// each run of forward_backward overwrites the gradients. Adds in the plan's
/// precision, batch after batch, as Caffe does. A plan compiled with iter_size
/// has programs that add. If iter_size was set only at run time, the host adds.
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
  /// The sum of a gradient buffer on the host.
  struct HostSum {
    std::uint32_t buffer;
    plan::DataType type;
    std::size_t bytes;
    std::size_t offset; ///< of its sum in `sumBytes`
  };

  void createHostSums();

  Executor &executor;
  int addProgram, finishProgram; ///< -1: not in the plan
  std::vector<HostSum> hostSums;
  std::vector<std::byte> sumBytes; ///< in the layout of the buffers
  bool started = false;
};

} // namespace brew::runtime
