//===- CallTuner.cpp - Chooses how vendor calls are done ------------------===//
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
  if (const TimingCache::Choice *known = cache.find(keyOf(call)))
    for (int i = 0; i < count; ++i)
      if (call.describe(i) == known->candidate &&
          call.workspaceBytes(i) != VendorCall::kUnusable)
        return i;
  const TuningResult measured = tune(call, prepare);
  cache.saveOrWarn(); // what was measured outlives a run that is ended now
  return measured.fastest;
}

CallTuner::TuningResult CallTuner::tune(VendorCall &call, const Prepare &prepare) {
  if (prepare)
    prepare();
  const TuningResult measured = fastest(call);
  cache.set(keyOf(call),
            {call.describe(measured.fastest), measured.fastestSeconds * 1e6});
  return measured;
}

int CallTuner::firstUsable(const VendorCall &call) const {
  for (int i = 0; i < call.candidates(); ++i)
    if (call.workspaceBytes(i) != VendorCall::kUnusable)
      return i;
  throw unavailable("no engine can be used for " + call.key() +
                     " within --workspace-limit");
}

/// The best candidate so far.
struct CallTuner::Search {
  int best = -1, measured = 0;
  int first = -1; ///< that could be measured
  double firstSeconds = 0;
  Time least;
  std::string reason; ///< why the first that failed did
  DeviceMemory workspace;
  /// Settings measured of each engine.
  std::map<std::string, int> perEngine;
};

/// Measures a candidate if it can be used.
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
    const Time needed = timeOf(call, candidate, search.workspace, search.least);
    if (search.measured++ == 0) {
      search.first = candidate;
      search.firstSeconds = needed.seconds;
    }
    ++search.perEngine[call.engine(candidate)];
    if (search.best < 0 || needed < search.least) {
      if (search.best >= 0)
        call.release(search.best);
      search.least = needed;
      search.best = candidate;
      return;
    }
  } catch (const Error &error) {
    if (search.reason.empty())
      search.reason = error.what(); // an engine that the library offers in vain
  }
  call.release(candidate);
}

CallTuner::TuningResult CallTuner::fastest(VendorCall &call) {
  constexpr int kPerEngine = 2, kMinimum = 16;
  Search search;
  std::vector<int> later;
  for (int i = 0; i < call.candidates(); ++i)
    if (search.perEngine[call.engine(i)] < kPerEngine)
      measureCandidate(call, i, search);
    else
      later.push_back(i);
  for (int i : later)
    if (search.measured < kMinimum)
      measureCandidate(call, i, search);
  if (search.best < 0)
    throw unavailable(search.reason.empty()
                           ? "no engine can be used for " + call.key() +
                                 " within --workspace-limit"
                           : search.reason);
  return {search.first, search.best, search.firstSeconds, search.least.seconds};
}

/// What enqueues a candidate: a graph of it, as programs are later; itself,
/// where it cannot be captured.
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

/// The least of a few runs, after ones that may load code; of one, if that is
/// far from the best so far.
CallTuner::Time CallTuner::timeOf(VendorCall &call, int candidate,
                                  const DeviceMemory &workspace,
                                  const Time &best) {
  constexpr int kRuns = 3, kBatched = 10;
  constexpr double kShort = 20e-6;
  const std::string name = call.describe(candidate);
  int calls = 1;
  const std::function<void()> run = [&] {
    for (int i = 0; i < calls; ++i)
      call.run(candidate, workspace.address(), stream);
  };
  run();
  stream.synchronize(name);
  Time time;
  std::function<void()> start;
  const auto makeStarter = [&] {
    start = makeLauncher(device, stream, run, time.isGraph);
    if (time.isGraph) {
      start();
      stream.synchronize(name);
    }
  };
  const Event begin(device, /*timed=*/true), end(device, /*timed=*/true);
  const auto secondsOfOne = [&] {
    begin.record(stream);
    start();
    end.record(stream);
    end.synchronize(name);
    return end.secondsSince(begin) / calls;
  };
  makeStarter();
  time.seconds = secondsOfOne();
  if (time.seconds < kShort) {
    calls = kBatched;
    makeStarter();
    time.seconds = secondsOfOne();
  }
  for (int i = 1; i < kRuns && time.seconds <= 2 * best.seconds; ++i)
    time.seconds = std::min(time.seconds, secondsOfOne());
  return time;
}

} // namespace brew::runtime::cuda
