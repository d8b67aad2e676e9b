//===- CallTuner.h - Chooses how vendor calls are done ----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/cuda/VendorCall.h"
#include "runtime/executor/TimingCache.h"

#include <functional>
#include <limits>
#include <string>

namespace brew::runtime::cuda {

/// Chooses a candidate for each call: the one that the timing cache names, else
/// the fastest of those measured now, else the library's first. Measured are
/// two settings of each engine and, if these are fewer than 16, those that the
/// library suggests next. Candidates that
/// can be part of a CUDA graph are preferred: one that cannot would keep its
/// whole program from being one. The time of a candidate is the least of three;
/// calls shorter than 20 us are timed several at once, since events and the
/// start of a graph take microseconds themselves.
class CallTuner {
public:
  /// Without `measure`, always the library's first that can be used.
  CallTuner(const Device &device, const Stream &stream, TimingCache &cache,
            bool measure)
      : device(device), stream(stream), cache(cache), measure(measure) {}

  /// Fills a call's buffers before it is measured.
  using Prepare = std::function<void()>;

  /// Runs the call on its buffers, whose contents it may change. Calls
  /// `prepare` first if it measures anything, and writes the measurements to
  /// the cache's file before it returns.
  int choose(VendorCall &call, const Prepare &prepare = {});

  struct TuningResult {
    int first = 0, fastest = 0;
    double firstSeconds = 0, fastestSeconds = 0;
  };
  /// Measures the call, whatever the cache says of it, and keeps the fastest
  /// candidate there.
  TuningResult tune(VendorCall &call, const Prepare &prepare = {});

private:
  int firstUsable(const VendorCall &call) const;
  struct Search;
  struct Time {
    bool isGraph = false;
    double seconds = std::numeric_limits<double>::infinity();
    bool operator<(const Time &other) const {
      return isGraph != other.isGraph ? isGraph : seconds < other.seconds;
    }
  };
  TuningResult fastest(VendorCall &call);
  std::string keyOf(const VendorCall &call) const {
    return device.name() + " " + call.key();
  }
  void measureCandidate(VendorCall &call, int candidate, Search &search);
  Time timeOf(VendorCall &call, int candidate, const DeviceMemory &workspace,
              const Time &best);

  const Device &device;
  const Stream &stream;
  TimingCache &cache;
  bool measure;
};

} // namespace brew::runtime::cuda
