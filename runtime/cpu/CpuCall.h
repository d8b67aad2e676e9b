//===- CpuCall.h - Library call of a step, ready to run ---------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brew::runtime {

/// An implementation of a step that a library can compute.
class CpuCall {
public:
  virtual ~CpuCall() = default;

  /// Packs constant weights in the call's layout. Call it before the first run
  /// and after the weights have changed.
  virtual void pack() = 0;
  /// Returns the bytes of packed weights that the call owns.
  virtual std::uint64_t packedBytes() const { return 0; }
  /// Returns the bytes of scratch memory that a run needs.
  virtual std::uint64_t scratchBytes() const = 0;
  /// Sets the scratch memory, aligned to 64 bytes. Call it before the first
  /// run.
  virtual void bindScratch(std::byte *scratch) = 0;
  virtual void run() = 0;
  /// Returns the name of the implementation, such as "oneDNN
  /// brgconv:avx512_core".
  virtual std::string implementation() const = 0;
};

} // namespace brew::runtime
