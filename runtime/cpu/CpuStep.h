//===- CpuStep.h - A step of a CPU program, ready to run --------*- C++ -*-===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/executor/DeviceStep.h"

#include <cstddef>
#include <cstdint>

namespace brew::runtime {

/// A step that runs on the compute threads, or on the caller's thread if it is
/// a host layer.
class CpuStep : public DeviceStep<Threads> {
public:
  /// Packs constant weights in the step's layout. Call it before the first run
  /// and after the weights have changed.
  virtual void pack() {}
  /// Returns the bytes of packed weights that the step owns.
  virtual std::uint64_t packedBytes() const { return 0; }
  /// Sets the scratch memory of scratchBytes(), aligned to 64 bytes. Call it
  /// before the first run.
  virtual void bindScratch(std::byte *) {}
};

} // namespace brew::runtime
