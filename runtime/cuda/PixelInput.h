//===- PixelInput.h - Images that a GPU makes of bytes -----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/InputStaging.h"
#include "runtime/executor/PixelBlock.h"

#include <vector>

namespace brew::runtime::cuda {

/// The feed of a Data layer whose pixels are converted on the device: a quarter
/// of the bytes travel, and the staging buffer is read by the plan's kernel
/// instead of being copied.
class PixelInput {
public:
  /// `top` is the buffer that `kernel`, of `function`, writes at `address`, of
  /// images as `conversion` says.
  PixelInput(const Device &device, const plan::PixelConversion &conversion,
            const plan::Kernel &kernel, CUfunction function,
            const plan::Buffer &top, CUdeviceptr address);

  void setMean(const std::vector<float> &values, const Stream &stream);
  /// Like InputStaging, with a PixelBlock.
  void stage(const std::byte *block, const Stream &copies,
           const Threads &workers) {
    staging.stage(block, copies, workers);
  }
  void commit(const Stream &compute) { staging.commit(compute); }
  void discard() { staging.discard(); }

  /// Bytes held on the device beside the buffer itself.
  std::uint64_t deviceBytes() const {
    return staging.stagingBytes() + mean.size();
  }

private:
  void convert(CUdeviceptr block, const Stream &compute) const;

  const Device &device;
  const plan::Kernel &kernel;
  CUfunction function;
  CUdeviceptr target;
  PixelBlock layout;
  DeviceMemory mean; ///< empty where the kernel has none
  InputStaging staging;
};

} // namespace brew::runtime::cuda
