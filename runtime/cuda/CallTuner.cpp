//===- CallTuner.cpp - Autotuning of vendor library calls -----------------===//
#include "runtime/cuda/CallTuner.h"

#include "support/Error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace brew::runtime::cuda {

int CallTuner::choose(VendorCall &call, const Prepare &prepare) {
  const int count = call.candidates();
  if (!measure || count == 1)
    return firstUsable(call);
  if (const TimingCache::Choice *cached = cache.find(keyOf(call)))
    for (int i = 0; i < count; ++i)
      if (call.describe(i) == cached->candidate &&
          call.workspaceBytes(i) != VendorCall::kUnusable)
        return i;
  const TuningResult result = tune(call, prepare);
  cache.saveOrWarn(); // keeps the choice if the process is killed
  return result.fastest;
}

CallTuner::TuningResult CallTuner::tune(VendorCall &call,
                                        const Prepare &prepare) {
  if (prepare)
    prepare();
  const TuningResult result = findFastest(call);
  cache.set(keyOf(call),
            {call.describe(result.fastest), result.fastestSeconds * 1e6});
  return result;
}

int CallTuner::firstUsable(const VendorCall &call) const {
  for (int i = 0; i < call.candidates(); ++i)
    if (call.workspaceBytes(i) != VendorCall::kUnusable)
      return i;
  throw unavailable("no engine can be used for " + call.key() +
                    " within --workspace-limit");
}

/// State of a search: the best candidate so far and the shared workspace.
struct CallTuner::Search {
  int best = -1;
  int measured = 0; ///< number of measured candidates
  int first = -1;   ///< first candidate that could be measured
  double firstSeconds = 0;
  Timing bestTiming;
  std::string firstError; ///< error of the first candidate that failed
  DeviceMemory workspace;
  /// Number of measured candidates of each engine.
  std::map<std::string, int> measuredPerEngine;
};

/// Measures a candidate if it is usable. Releases the slower of this candidate
/// and the best one so far.
void CallTuner::measureCandidate(VendorCall &call, int candidate,
                                 Search &search) {
  const std::uint64_t bytes = call.workspaceBytes(candidate);
  if (bytes == VendorCall::kUnusable)
    return call.release(candidate);
  try {
    if (bytes > search.workspace.size()) {
      search.workspace = DeviceMemory();
      search.workspace =
          DeviceMemory(device, bytes, "memory to try an engine in");
    }
    const Timing timing =
        timeOf(call, candidate, search.workspace, search.bestTiming);
    if (search.measured++ == 0) {
      search.first = candidate;
      search.firstSeconds = timing.seconds;
    }
    ++search.measuredPerEngine[call.engine(candidate)];
    if (search.best < 0 || timing < search.bestTiming) {
      if (search.best >= 0)
        call.release(search.best);
      search.bestTiming = timing;
      search.best = candidate;
      return;
    }
  } catch (const Error &error) {
    // The library suggests the candidate but cannot run it.
    if (search.firstError.empty())
      search.firstError = error.what();
  }
  call.release(candidate);
}

CallTuner::TuningResult CallTuner::findFastest(VendorCall &call) {
  constexpr int kPerEngine = 2, kMinimum = 16;
  Search search;
  std::vector<int> remaining;
  for (int i = 0; i < call.candidates(); ++i)
    if (search.measuredPerEngine[call.engine(i)] < kPerEngine)
      measureCandidate(call, i, search);
    else
      remaining.push_back(i);
  for (int i : remaining)
    if (search.measured < kMinimum)
      measureCandidate(call, i, search);
  if (search.best < 0)
    throw unavailable(search.firstError.empty()
                          ? "no engine can be used for " + call.key() +
                                " within --workspace-limit"
                          : search.firstError);
  return {search.first, search.best, search.firstSeconds,
          search.bestTiming.seconds};
}

/// Returns a function that launches a CUDA graph of `run`, as programs do
/// later, or `run` itself if it cannot be captured.
static std::function<void()> makeLauncher(const Device &device,
                                          const Stream &stream,
                                          const std::function<void()> &run,
                                          bool &isGraph) {
  try {
    auto graph = std::make_shared<Graph>(Graph::capture(device, stream, run));
    isGraph = true;
    return [graph, &stream] { graph->launch(stream); };
  } catch (const Error &) {
    isGraph = false;
    return run;
  }
}

/// Returns the minimum time of a few runs, after warm-up runs that may load
/// code. Stops early if the candidate takes more than twice the best time so
/// far.
CallTuner::Timing CallTuner::timeOf(VendorCall &call, int candidate,
                                    const DeviceMemory &workspace,
                                    const Timing &best) {
  constexpr int kRuns = 3, kCallsPerBatch = 10;
  constexpr double kShortCallSeconds = 20e-6;
  const std::string name = call.describe(candidate);
  int calls = 1;
  const std::function<void()> run = [&] {
    for (int i = 0; i < calls; ++i)
      call.run(candidate, workspace.address(), stream);
  };
  run();
  stream.synchronize(name);
  Timing time;
  std::function<void()> launch;
  const auto updateLauncher = [&] {
    launch = makeLauncher(device, stream, run, time.isGraph);
    if (time.isGraph) {
      launch();
      stream.synchronize(name);
    }
  };
  const Event begin(device, /*timed=*/true), end(device, /*timed=*/true);
  const auto secondsPerCall = [&] {
    begin.record(stream);
    launch();
    end.record(stream);
    end.synchronize(name);
    return end.secondsSince(begin) / calls;
  };
  updateLauncher();
  time.seconds = secondsPerCall();
  if (time.seconds < kShortCallSeconds) {
    calls = kCallsPerBatch;
    updateLauncher();
    time.seconds = secondsPerCall();
  }
  for (int i = 1; i < kRuns && time.seconds <= 2 * best.seconds; ++i)
    time.seconds = std::min(time.seconds, secondsPerCall());
  return time;
}

} // namespace brew::runtime::cuda
