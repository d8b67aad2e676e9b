//===- CallTuner.h - Autotuning of vendor library calls ---------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/cuda/VendorCall.h"
#include "runtime/executor/TimingCache.h"

#include <functional>
#include <limits>
#include <string>

namespace brew::runtime::cuda {

/// Chooses a candidate for each call: the one that the timing cache names;
/// otherwise the fastest measured one; without measuring, the library's first
/// usable one.
///
/// The tuner measures two settings of each engine and, if these are fewer than
/// 16, the next suggestions of the library up to 16. It prefers candidates that
/// can be captured into a CUDA graph, since one that cannot would prevent a
/// graph of the whole program. The time of a candidate is the minimum of three
/// runs. Calls shorter than 20 us are timed ten at a time, because events and
/// graph launches take microseconds themselves.
class CallTuner {
public:
  /// Without `measure`, choose() returns the library's first usable candidate.
  CallTuner(const Device &device, const Stream &stream, TimingCache &cache,
            bool measure)
      : device(device), stream(stream), cache(cache), measure(measure) {}

  /// Fills a call's buffers before it is measured.
  using Prepare = std::function<void()>;

  /// Returns the chosen candidate. May run the call on its buffers and change
  /// their contents. If it measures, it calls `prepare` first and writes the
  /// choice to the cache's file before it returns.
  int choose(VendorCall &call, const Prepare &prepare = {});

  struct TuningResult {
    int first = 0, fastest = 0;
    double firstSeconds = 0, fastestSeconds = 0;
  };
  /// Measures the call, ignoring the cache's entry, and stores the fastest
  /// candidate in the cache.
  TuningResult tune(VendorCall &call, const Prepare &prepare = {});

private:
  int firstUsable(const VendorCall &call) const;
  struct Search;
  struct Timing {
    bool isGraph = false;
    double seconds = std::numeric_limits<double>::infinity();
    bool operator<(const Timing &other) const {
      return isGraph != other.isGraph ? isGraph : seconds < other.seconds;
    }
  };
  TuningResult findFastest(VendorCall &call);
  std::string keyOf(const VendorCall &call) const {
    return device.name() + " " + call.key();
  }
  void measureCandidate(VendorCall &call, int candidate, Search &search);
  Timing timeOf(VendorCall &call, int candidate, const DeviceMemory &workspace,
                const Timing &best);

  const Device &device;
  const Stream &stream;
  TimingCache &cache;
  bool measure;
};

} // namespace brew::runtime::cuda
