//===- CudaBenchmark.h - Benchmark of a GPU call's candidates ---*- C++ -*-===//
#pragma once

#include "runtime/cuda/VendorCall.h"
#include "runtime/executor/CallTuner.h"

namespace brew::runtime::cuda {

/// Measures two settings of each engine and, if these are fewer than 16, the
/// next suggestions of the library up to 16.
inline constexpr TuningPolicy kCudaTuningPolicy{2, 16, 0};

/// Measures three runs with events, in a CUDA graph if possible. Calls shorter
/// than 20 us are timed ten at a time, because events and graph launches take
/// microseconds themselves.
class CudaBenchmark : public CallBenchmark {
public:
  /// The arguments must outlive this object.
  CudaBenchmark(const Device &device, const Stream &stream, VendorCall &call)
      : device(device), stream(stream), call(call) {}

  CallTime measure(int candidate, const CallTime &best) override;

private:
  const Device &device;
  const Stream &stream;
  VendorCall &call;
  DeviceMemory scratch; ///< enough for all candidates so far
};

} // namespace brew::runtime::cuda
