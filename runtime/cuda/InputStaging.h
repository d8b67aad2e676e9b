//===- InputStaging.h - Asynchronous upload of an input ---------*- C++ -*-===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/cuda/Device.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace brew::runtime::cuda {

/// Uploads batches of one input buffer. A batch is copied to page-locked memory
/// (two allocations, used in turn), then on the copy stream to a staging buffer
/// on the device while the previous batch is still in use, and finally on the
/// compute stream to the input buffer. Small inputs (labels) skip the staging
/// buffer: its copies would cost more time than they save.
class InputStaging {
public:
  /// Enqueues the work that writes the input buffer from the bytes at
  /// `staging`.
  using Consume =
      std::function<void(CUdeviceptr staging, const Stream &compute)>;

  /// Copies the staged bytes to `target`.
  InputStaging(const Device &device, CUdeviceptr target, std::uint64_t size);
  /// Passes the staged bytes to `consume`.
  InputStaging(const Device &device, std::uint64_t size, Consume consume);
  InputStaging(const InputStaging &) = delete;
  InputStaging &operator=(const InputStaging &) = delete;

  /// Starts the upload of a batch. `bytes` may be reused when this returns.
  void stage(const std::byte *bytes, const Stream &copies,
             const Threads &workers);
  /// Enqueues the final copy or conversion of a staged batch. No-op without a
  /// staged batch.
  void commit(const Stream &compute);
  /// Discards a staged batch.
  void discard() { hasPendingBatch = false; }

  /// Returns the bytes of device memory in addition to the input buffer.
  std::uint64_t stagingBytes() const { return staging.size(); }

private:
  void allocateSlots();
  bool isDirect() const { return staging.size() == 0; }

  const Device &device;
  CUdeviceptr target = 0; ///< the input buffer; 0 with a caller's `consume`
  std::uint64_t size;
  Consume consume;
  DeviceMemory staging; ///< empty for small buffers
  struct Slot {
    PinnedMemory memory;
    Event copied; ///< after it, `memory` may be overwritten
  };
  std::vector<Slot> slots;
  Event consumed; ///< after it, `staging` may be overwritten
  std::size_t nextSlot = 0;
  bool hasPendingBatch = false;
};

} // namespace brew::runtime::cuda
