//===- CallTuner.h - Chooses how vendor calls are done ----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/cuda/TimingCache.h"
#include "runtime/cuda/VendorCall.h"

#include <string>

namespace brew::runtime::cuda {

/// Chooses a candidate for each call: the one that the timing cache names, else
/// the fastest of those measured now, else the library's first.
class CallTuner {
public:
  /// Without `measure`, always the library's first that can be used.
  CallTuner(const Device &device, const Stream &stream, TimingCache &cache,
            bool measure)
      : device(device), stream(stream), cache(cache), measure(measure) {}

  /// Runs the call on its buffers, whose contents it may change.
  int choose(VendorCall &call);

private:
  int firstUsable(const VendorCall &call) const;
  int fastest(VendorCall &call, double &seconds);
  double secondsOf(VendorCall &call, int candidate,
                   const DeviceMemory &workspace, double best);

  const Device &device;
  const Stream &stream;
  TimingCache &cache;
  bool measure;
};

} // namespace brew::runtime::cuda
