//===- AllReduceStep.h - An all-reduce step on a GPU ------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/CudaStep.h"
#include "runtime/cuda/Nccl.h"

#include <functional>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// The start or the wait of an all-reduce over ranks (plan::AllReduceCall). On
/// a single rank without NCCL, or if the steps of the current run do not reduce
/// gradients, it only copies the operands.
class AllReduceStep : public CudaStep {
public:
  /// `address` returns the memory of a buffer. `nccl` must outlive this object;
  /// it may be null on one rank.
  AllReduceStep(const plan::Manifest &manifest, const plan::Step &step,
                const std::function<CUdeviceptr(std::uint32_t)> &address,
                Nccl *nccl);

  void run(const LaunchContext &context) override;
  /// Returns the name of the library, such as "NCCL 2.27.3", or "one rank".
  std::string describe() const override;

private:
  struct Copy {
    CUdeviceptr source, target;
    std::size_t bytes;
  };
  std::vector<Copy> copies;
  std::vector<AllReduceBuffer> sums;
  bool isStart, isStatistic;
  Nccl *nccl;
};

} // namespace brew::runtime::cuda
