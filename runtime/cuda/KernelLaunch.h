//===- KernelLaunch.h - A generated kernel, ready to start ------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"

#include <string>
#include <vector>

namespace brew::runtime::cuda {

struct KernelLaunch {
  CUfunction function = nullptr;
  unsigned blocks = 1, threads = 1;
  std::vector<CUdeviceptr> arguments;
  std::string symbol;
  /// Of a kernel that has several, which are launched one by one unless it
  /// cooperates; else 0.
  unsigned stages = 0;
  bool cooperates = false;

  void enqueue(const Device &device, const Stream &stream) const;
};

} // namespace brew::runtime::cuda
