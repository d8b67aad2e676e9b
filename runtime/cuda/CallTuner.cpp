//===- CallTuner.cpp - Chooses how vendor calls are done ------------------===//
#include "runtime/cuda/CallTuner.h"

#include "formats/Error.h"

#include <algorithm>
#include <limits>

namespace brew::runtime::cuda {

int CallTuner::choose(VendorCall &call) {
  const int count = call.candidates();
  if (!measure || count == 1)
    return firstUsable(call);
  const std::string key = device.name() + " " + call.key();
  if (const TimingCache::Choice *known = cache.find(key))
    for (int i = 0; i < count; ++i)
      if (call.describe(i) == known->candidate &&
          call.workspaceBytes(i) != VendorCall::kUnusable)
        return i;
  double seconds = 0;
  const int best = fastest(call, seconds);
  cache.set(key, {call.describe(best), seconds * 1e6});
  return best;
}

int CallTuner::firstUsable(const VendorCall &call) const {
  for (int i = 0; i < call.candidates(); ++i)
    if (call.workspaceBytes(i) != VendorCall::kUnusable)
      return i;
  throw machineLacks("no engine can be used for " + call.key() +
                     " within --workspace-limit");
}

int CallTuner::fastest(VendorCall &call, double &seconds) {
  constexpr int kMostMeasured = 8; // the library offers good ones first
  int best = -1, measured = 0;
  seconds = std::numeric_limits<double>::infinity();
  std::string reason;
  DeviceMemory workspace;
  for (int i = 0; i < call.candidates() && measured < kMostMeasured; ++i) {
    const std::uint64_t bytes = call.workspaceBytes(i);
    if (bytes == VendorCall::kUnusable)
      continue;
    try {
      if (bytes > workspace.size()) {
        workspace = DeviceMemory();
        workspace = DeviceMemory(device, bytes, "memory to try an engine in");
      }
      const double needed = secondsOf(call, i, workspace, seconds);
      ++measured;
      if (needed < seconds) {
        seconds = needed;
        best = i;
      }
    } catch (const Error &error) {
      reason = error.what(); // an engine that the library offers in vain
    }
  }
  if (best < 0)
    throw machineLacks(reason.empty()
                           ? "no engine can be used for " + call.key() +
                                 " within --workspace-limit"
                           : reason);
  return best;
}

/// The least of a few runs, after one that may load code; of one, if that is
/// far from the best so far.
double CallTuner::secondsOf(VendorCall &call, int candidate,
                            const DeviceMemory &workspace, double best) {
  constexpr int kRuns = 3;
  call.run(candidate, workspace.address(), stream);
  stream.synchronize(call.describe(candidate));
  const Event start(device, /*timed=*/true), stop(device, /*timed=*/true);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    start.record(stream);
    call.run(candidate, workspace.address(), stream);
    stop.record(stream);
    stop.synchronize(call.describe(candidate));
    least = std::min(least, stop.secondsSince(start));
    if (least > 2 * best)
      break;
  }
  return least;
}

} // namespace brew::runtime::cuda
