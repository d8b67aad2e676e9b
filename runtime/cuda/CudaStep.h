//===- CudaStep.h - A step of a GPU program, ready to run -------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/executor/DeviceStep.h"

namespace brew::runtime::cuda {

/// The device and the stream of a step. `scratch` is the scratch memory of
/// library calls, 256-byte aligned.
struct LaunchContext {
  const Device &device;
  const Stream &stream;
  CUdeviceptr scratch = 0;
};

using CudaStep = DeviceStep<LaunchContext>;

} // namespace brew::runtime::cuda
