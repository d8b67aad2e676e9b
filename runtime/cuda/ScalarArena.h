//===- ScalarArena.h - A solver's numbers on their way to a GPU -*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brew::runtime::cuda {

/// Solver scalars are written on the host and copied before the next run.
/// Programs that run meanwhile keep reading the values they were started with:
/// the copy is in order with them, from memory that nothing else touches until
/// it has happened.
class ScalarArena {
public:
  ScalarArena(const Device &device, CUdeviceptr target, std::uint64_t size)
      : device(device), target(target), image(size) {}

  void write(std::uint64_t offset, const void *bytes, std::size_t size);
  /// Enqueues the copy if a number has changed.
  void flush(const Stream &stream);

private:
  struct Slot {
    PinnedMemory memory;
    Event copied;
  };

  const Device &device;
  CUdeviceptr target;
  std::vector<std::byte> image;
  bool changed = false;
  std::vector<Slot> slots; ///< two, in turn
  std::size_t next = 0;
};

} // namespace brew::runtime::cuda
