//===- ScalarArena.h - Asynchronous upload of solver scalars ----*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brew::runtime::cuda {

/// A host copy of the solver scalars that is uploaded before the next run.
/// Programs in flight keep reading the values with which they were started,
/// because the upload is ordered with them on the stream and reads page-locked
/// memory that is not reused before the upload is done.
class ScalarArena {
public:
  ScalarArena(const Device &device, CUdeviceptr target, std::uint64_t size)
      : device(device), target(target), hostCopy(size) {}

  /// Writes `size` bytes to the host copy.
  void write(std::uint64_t offset, const void *bytes, std::size_t size);
  /// Enqueues the upload if a scalar has changed.
  void flush(const Stream &stream);

private:
  struct Slot {
    PinnedMemory memory;
    Event copied;
  };

  const Device &device;
  CUdeviceptr target;
  std::vector<std::byte> hostCopy;
  bool hasChanges = false;
  std::vector<Slot> slots; ///< two, used in turn
  std::size_t nextSlot = 0;
};

} // namespace brew::runtime::cuda
