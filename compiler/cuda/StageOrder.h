//===- StageOrder.h - Order of the stages of a kernel -----------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"
#include "compiler/cuda/KernelSource.h"

namespace brew::compiler::cuda {

/// Marks which of `arguments` the sub-kernels read and write.
void markAccesses(llvm::ArrayRef<SubKernel> subKernels,
                  llvm::MutableArrayRef<KernelArgument> arguments);

/// Decides which stages must wait for the stages before them, and the order of
/// their turns.
class StageOrder {
public:
  explicit StageOrder(const std::vector<KernelArgument> &arguments);

  /// Begins a stage. Returns whether a barrier is needed before it: a stage
  /// since the last barrier writes what this stage accesses, or reads what it
  /// writes.
  bool beginStage(llvm::ArrayRef<SubKernel> subKernels);

  /// Returns the loop of a block over its turns of the stage, which has
  /// `turns` turns. `first` is the schedule of its first sub-kernel.
  ///
  /// Reductions in columns read rows in ascending order. Other stages descend,
  /// the counter wraps below 0: they begin with the rows that the reduction
  /// before them read last, and end with the rows that the next call or
  /// reduction reads first. These rows are still in the L2 cache.
  ///
  /// Without a barrier before it, a stage begins with the blocks that have
  /// fewer turns of the stages since the last barrier.
  std::string turnsOf(const SubKernelSchedule &first, int64_t turns);

private:
  std::vector<KernelArgument> accesses; ///< since the last barrier
  int64_t turnsBefore = 0;              ///< since the last barrier
};

} // namespace brew::compiler::cuda
