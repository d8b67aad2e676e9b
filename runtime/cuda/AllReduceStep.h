//===- AllReduceStep.h - A sum over GPUs as a step --------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Nccl.h"

#include <functional>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// A part of a sum over ranks (plan::AllReduceCall). Of one rank alone, and
/// where sums are not made in steps, only its copies.
class AllReduceStep {
public:
  /// `address` gives the memory of a buffer; `nccl`, which outlives it, may be
  /// null on one rank.
  AllReduceStep(const plan::Manifest &manifest, const plan::AllReduceCall &call,
                const std::function<CUdeviceptr(std::uint32_t)> &address,
                Nccl *nccl);

  void enqueue(const Device &device, const Stream &stream) const;
  /// What does it.
  std::string implementation() const;

private:
  struct Copy {
    CUdeviceptr source, target;
    std::size_t bytes;
  };
  std::vector<Copy> copies;
  std::vector<AllReduceBuffer> sums;
  bool starts, isStatistic;
  Nccl *nccl;
};

} // namespace brew::runtime::cuda
