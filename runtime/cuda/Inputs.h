//===- Inputs.h - What is fed to a plan on a GPU ----------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Modules.h"
#include "runtime/cuda/PixelInput.h"

#include <functional>
#include <map>

namespace brew::runtime::cuda {

/// The ways of all buffers that are fed before runs, made on first use.
class Inputs {
public:
  using Address = std::function<CUdeviceptr(std::uint32_t buffer)>;

  Inputs(const Device &device, const plan::Manifest &manifest,
         const Modules &modules, const Threads &workers, Address address)
      : device(device), manifest(manifest), modules(modules), workers(workers),
        copies(device), address(std::move(address)) {}

  /// Bytes of a dense buffer, for the next run.
  void stage(std::uint32_t buffer, const std::byte *bytes);
  /// A PixelBlock for the first top of a feed with a PixelConversion.
  void stagePixels(const plan::DataInput &feed, const std::byte *block);
  void setPixelMean(const plan::DataInput &feed, const std::vector<float> &mean,
                    const Stream &stream);

  /// Enqueues the last step of all that was stage.
  void commit(const Stream &compute);

  /// Waits for copies that are under way, whatever becomes of them.
  void waitForCopies() const { device.api().cuStreamSynchronize(copies.get()); }

  /// Bytes held on the device beside the buffers themselves.
  std::uint64_t deviceBytes() const;

private:
  const plan::Buffer &buffer(std::uint32_t index) const {
    return manifest.buffers(static_cast<int>(index));
  }
  PixelInput &pixelInput(const plan::DataInput &feed);

  const Device &device;
  const plan::Manifest &manifest;
  const Modules &modules;
  const Threads &workers;
  Stream copies;
  Address address;
  // By buffer. A buffer may be fed either way, but one at a time.
  std::map<std::uint32_t, InputStaging> plain;
  std::map<std::uint32_t, PixelInput> pixels;
};

} // namespace brew::runtime::cuda
