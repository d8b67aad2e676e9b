//===- InputStaging.h - Brings batches to a GPU while it works --*- C++ -*-===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/cuda/Device.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace brew::runtime::cuda {

/// The way of one input buffer to the device: page-locked memory (two, in
/// turn), from there by a copy stream to a staging buffer on the device while
/// the previous batch is still computed with, and from there, in the order of
/// the compute stream, to the buffer itself. Small ones (labels) skip the
/// staging buffer: the copies would take longer than what they hide.
class InputStaging {
public:
  /// Enqueues what makes the buffer of the bytes at `staging`.
  using Consume =
      std::function<void(CUdeviceptr staging, const Stream &compute)>;

  /// Bytes that become the buffer as they are.
  InputStaging(const Device &device, CUdeviceptr target, std::uint64_t size);
  /// Bytes that `consume` turns into it.
  InputStaging(const Device &device, std::uint64_t size, Consume consume);
  InputStaging(const InputStaging &) = delete;
  InputStaging &operator=(const InputStaging &) = delete;

  /// Takes a batch; `bytes` may be reused when this returns.
  void stage(const std::byte *bytes, const Stream &copies,
           const Threads &workers);
  /// Enqueues the last step for a batch that was stage; else does nothing.
  void commit(const Stream &compute);
  /// A batch that was stage is not wanted after all.
  void discard() { pending = false; }

  /// Bytes held on the device beside the buffer itself.
  std::uint64_t stagingBytes() const { return staging.size(); }

private:
  void allocateSlots();
  bool direct() const { return staging.size() == 0; }

  const Device &device;
  CUdeviceptr target = 0; ///< of small buffers
  std::uint64_t size;
  Consume consume;
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
