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
        copyStream(device), address(std::move(address)) {}

  /// Stages the bytes of a dense buffer for the next run.
  void stage(std::uint32_t buffer, const std::byte *bytes);
  /// Stages a PixelBlock for the first top of a data input that has a
  /// PixelConversion.
  void stagePixels(const plan::DataInput &input, const std::byte *block);
  void setPixelMean(const plan::DataInput &input,
                    const std::vector<float> &mean, const Stream &stream);

  /// Enqueues the final copies and conversions of all staged inputs.
  void commit(const Stream &compute);

  /// Waits for pending copies to the device and ignores their errors.
  void waitForCopies() const {
    device.api().cuStreamSynchronize(copyStream.get());
  }

  /// Returns the bytes of device memory in addition to the input buffers.
  std::uint64_t deviceBytes() const;

private:
  const plan::Buffer &buffer(std::uint32_t index) const {
    return manifest.buffers(static_cast<int>(index));
  }
  PixelInput &findOrCreatePixelInput(const plan::DataInput &input);

  const Device &device;
  const plan::Manifest &manifest;
  const Modules &modules;
  const Threads &workers;
  Stream copyStream;
  Address address;
  // Indexed by buffer. A buffer may be in both maps, but only one of them has a
  // staged batch.
  std::map<std::uint32_t, InputStaging> denseInputs;
  std::map<std::uint32_t, PixelInput> pixelInputs;
};

} // namespace brew::runtime::cuda
