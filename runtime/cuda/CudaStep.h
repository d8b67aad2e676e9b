//===- CudaStep.h - A step of a GPU program, ready to run -------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/executor/DeviceStep.h"

namespace brew::runtime::cuda {

/// What a step is enqueued with. `scratch` is the scratch memory of library
/// calls, 256-byte aligned.
struct LaunchContext {
  const Device &device;
  const Stream &stream;
  CUdeviceptr scratch = 0;
};

using CudaStep = DeviceStep<LaunchContext>;

} // namespace brew::runtime::cuda
