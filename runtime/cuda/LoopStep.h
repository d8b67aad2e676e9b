//===- LoopStep.h - A loop on a GPU -----------------------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/KernelLaunch.h"
#include "runtime/executor/LoopStep.h"

namespace brew::runtime::cuda {

/// Enqueues the steps of all iterations.
class CudaLoopStep : public LoopStep<CudaStep, KernelLaunch> {
public:
  using LoopStep::LoopStep;

  void run(const LaunchContext &context) override { runAll(context); }
};

} // namespace brew::runtime::cuda
