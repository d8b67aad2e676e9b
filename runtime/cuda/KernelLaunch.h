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
  /// Of a kernel with stages: which of them run, as bits, launch by launch. In
  /// a launch of several they wait for each other.
  std::vector<unsigned long long> stages;

  void enqueue(const Device &device, const Stream &stream) const;
};

} // namespace brew::runtime::cuda
