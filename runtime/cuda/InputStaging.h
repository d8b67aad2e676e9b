//===- InputStaging.h - Brings batches to a GPU while it works --*- C++ -*-===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/cuda/Device.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brew::runtime::cuda {

/// The way of one input buffer to the device: page-locked memory (two, in
/// turn), from there by a copy stream to a staging buffer on the device while
/// the previous batch is still computed with, and from there, in the order of
/// the compute stream, to the buffer itself. Small ones (labels) skip the
/// staging buffer: the copies would take longer than what they hide.
class InputStaging {
public:
  InputStaging(const Device &device, CUdeviceptr target, std::uint64_t size);

  /// Takes a batch; `bytes` may be reused when this returns.
  void put(const std::byte *bytes, const Stream &copies,
           const Threads &workers);
  /// Enqueues the last step for a batch that was put; else does nothing.
  void deliver(const Stream &compute);

  /// Bytes held on the device beside the buffer itself.
  std::uint64_t stagingBytes() const { return staging.size(); }

private:
  bool direct() const { return staging.size() == 0; }

  const Device &device;
  CUdeviceptr target;
  std::uint64_t size;
  DeviceMemory staging; ///< empty for small buffers
  struct Slot {
    PinnedMemory memory;
    Event copied; ///< to the staging buffer
  };
  std::vector<Slot> slots;
  Event consumed; ///< the staging buffer may be overwritten
  std::size_t next = 0;
  bool pending = false;
};

} // namespace brew::runtime::cuda
