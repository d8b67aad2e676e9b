//===- Inputs.h - Uploads of a plan's inputs to a GPU -----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Modules.h"
#include "runtime/cuda/PixelInput.h"

#include <functional>
#include <map>

namespace brew::runtime::cuda {

/// The uploads of all input buffers. Each is created at its first use.
class Inputs {
public:
  using Address = std::function<CUdeviceptr(std::uint32_t buffer)>;

  Inputs(const Device &device, const plan::Manifest &manifest,
         const Modules &modules, const Threads &workers, Address address)
      : device(device), manifest(manifest), modules(modules), workers(workers),
        copies(device), address(std::move(address)) {}

  /// Stages the bytes of a dense buffer for the next run.
  void stage(std::uint32_t buffer, const std::byte *bytes);
  /// A PixelBlock for the first top of a data input with a PixelConversion.
  void stagePixels(const plan::DataInput &input, const std::byte *block);
  void setPixelMean(const plan::DataInput &input,
                    const std::vector<float> &mean, const Stream &stream);

  /// Enqueues the final copies and conversions of all staged inputs.
  void commit(const Stream &compute);

  /// Waits for pending copies to the device and ignores their errors.
  void waitForCopies() const { device.api().cuStreamSynchronize(copies.get()); }

  /// Returns the bytes of device memory in addition to the input buffers.
  std::uint64_t deviceBytes() const;

private:
  const plan::Buffer &buffer(std::uint32_t index) const {
    return manifest.buffers(static_cast<int>(index));
  }
  PixelInput &pixelInput(const plan::DataInput &input);

  const Device &device;
  const plan::Manifest &manifest;
  const Modules &modules;
  const Threads &workers;
  Stream copies;
  Address address;
  // By buffer. A buffer may be in both maps, but only one has a staged batch.
  std::map<std::uint32_t, InputStaging> plain;
  std::map<std::uint32_t, PixelInput> pixels;
};

} // namespace brew::runtime::cuda
