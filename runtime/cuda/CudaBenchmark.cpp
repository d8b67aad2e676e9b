//===- CudaBenchmark.cpp - Benchmark of a GPU call's candidates -----------===//
#include "runtime/cuda/CudaBenchmark.h"

#include "support/Error.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

namespace brew::runtime::cuda {

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

CallTime CudaBenchmark::measure(int candidate, const CallTime &best) {
  constexpr int kRuns = 3, kCallsPerBatch = 10;
  constexpr double kShortCallSeconds = 20e-6;
  if (const std::uint64_t bytes = call.scratchBytes(candidate);
      bytes > scratch.size()) {
    scratch = DeviceMemory();
    scratch = DeviceMemory(device, bytes, "memory to try an engine in");
  }
  const std::string name = call.describe(candidate);
  int calls = 1;
  const std::function<void()> run = [&] {
    for (int i = 0; i < calls; ++i)
      call.run(candidate, {device, stream, scratch.address()});
  };
  run();
  stream.synchronize(name);
  CallTime time;
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
