//===- KernelLaunch.h - A launch of a generated kernel ----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CudaStep.h"

#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// A launch of a generated kernel with resolved arguments.
struct KernelLaunch : CudaStep {
  CUfunction function = nullptr;
  unsigned blocks = 1, threads = 1;
  std::vector<CUdeviceptr> arguments;
  std::string symbol;
  /// Number of stages of a fused kernel; 0 for a kernel with a single stage.
  unsigned stages = 0;
  /// Launches all stages at once, cooperatively; otherwise one after the other.
  bool cooperative = false;

  void run(const LaunchContext &context) override;
  /// Moves the address of an argument by `bytes`.
  void move(std::size_t argument, std::int64_t bytes) {
    arguments[argument] += static_cast<CUdeviceptr>(bytes);
  }
  std::string describe() const override { return "kernel"; }
};

} // namespace brew::runtime::cuda
