//===- PixelInput.h - Images that a GPU converts from bytes -----*- C++ -*-===//
#pragma once

#include "runtime/cuda/InputStaging.h"
#include "runtime/executor/PixelBlock.h"

#include <vector>

namespace brew::runtime::cuda {

/// The upload of a data layer's images as bytes, which a kernel of the plan
/// converts to the top blob. This transfers a quarter of the bytes of f32
/// images.
class PixelInput {
public:
  /// `kernel`, loaded as `function`, writes the buffer `top` at `address` from
  /// images in the layout that `conversion` describes.
  PixelInput(const Device &device, const plan::PixelConversion &conversion,
             const plan::Kernel &kernel, CUfunction function,
             const plan::Buffer &top, CUdeviceptr address);

  void setMean(const std::vector<float> &values, const Stream &stream);
  /// Like InputStaging::stage(), for a PixelBlock.
  void stage(const std::byte *block, const Stream &copies,
             const Threads &workers) {
    staging.stage(block, copies, workers);
  }
  void commit(const Stream &compute) { staging.commit(compute); }
  void discard() { staging.discard(); }

  /// Returns the bytes of device memory in addition to the top buffer.
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
  DeviceMemory mean; ///< empty if the kernel subtracts no mean
  InputStaging staging;
};

} // namespace brew::runtime::cuda
