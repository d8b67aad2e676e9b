//===- CpuCall.h - A step that a library does, ready to run -----*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brew::runtime {

class CpuCall {
public:
  virtual ~CpuCall() = default;

  /// Brings weights that runs leave as they are into the call's form; before
  /// the first run, and when they have changed.
  virtual void pack() = 0;
  /// Bytes that the call itself keeps for pack().
  virtual std::uint64_t packedBytes() const { return 0; }
  /// Bytes of scratch the call needs while it runs.
  virtual std::uint64_t scratchBytes() const = 0;
  /// Sets the scratch, 64-byte aligned; before the first run.
  virtual void bindScratch(std::byte *scratch) = 0;
  virtual void run() = 0;
  /// What computes: "oneDNN brgconv:avx512_core".
  virtual std::string implementation() const = 0;
};

} // namespace brew::runtime
