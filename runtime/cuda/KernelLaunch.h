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

  void enqueue(const Device &device, const Stream &stream) const;
};

} // namespace brew::runtime::cuda
