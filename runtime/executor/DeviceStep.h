//===- DeviceStep.h - A step of a program, ready to run ---------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <string>

namespace brew::runtime {

/// A step of a program with resolved kernels and addresses. `Context` is what
/// the device runs it with: the threads of a CPU, the stream of a GPU.
template <typename Context> class DeviceStep {
public:
  virtual ~DeviceStep() = default;

  /// Runs the step, or enqueues it if the device has a queue. A host layer runs
  /// at once, after all work before it; its exceptions propagate.
  virtual void run(const Context &context) = 0;
  /// Returns the bytes of scratch memory that a run needs. Steps share it,
  /// since they run one after the other.
  virtual std::uint64_t scratchBytes() const { return 0; }
  /// Returns "kernel", "copy", "host", the name of a library's kernel ("oneDNN
  /// brgconv:avx512_core"), or the transport of an all-reduce.
  virtual std::string describe() const = 0;
  /// Returns whether a host layer computes the step: on the caller's thread,
  /// and not as part of a CUDA graph.
  virtual bool isHostLayer() const { return false; }
};

} // namespace brew::runtime
