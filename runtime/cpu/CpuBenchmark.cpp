//===- CpuBenchmark.cpp - Benchmark of a CPU call's candidates ------------===//
#include "runtime/cpu/CpuBenchmark.h"

#include "support/Error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace brew::runtime {

CpuClock evictingClock(const Threads &workers) {
  constexpr std::size_t kBytesPerThread = std::size_t(4) << 20;
  const auto memory = std::make_shared<Arena>(
      kBytesPerThread * static_cast<std::uint64_t>(workers.count()),
      "memory to fill caches with");
  auto fill = [&workers, memory, value = 0]() mutable {
    ++value;
    workers.parallelFor(
        workers.count(), 1, [&](std::int64_t begin, std::int64_t end) {
          std::memset(memory->data() +
                          kBytesPerThread * static_cast<std::size_t>(begin),
                      value,
                      kBytesPerThread * static_cast<std::size_t>(end - begin));
        });
  };
  return {
      [] {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now.time_since_epoch()).count();
      },
      fill};
}

CallTime CpuBenchmark::measure(int candidate, const CallTime &best) {
  DnnlContext own{settings, {}}; // with packed weights of its own
  try {
    const std::unique_ptr<CpuStep> step = call[candidate].make(own);
    if (!step)
      throw unavailable(call.describe(candidate) + " is not available");
    if (const std::uint64_t bytes = step->scratchBytes();
        bytes > scratch.size()) {
      scratch = Arena();
      scratch = Arena(bytes, "memory to try a call in");
    }
    step->bindScratch(scratch.data());
    step->pack();
    step->run(*own.workers); // the first run may load or generate code
    return {false, timeOf(*step, best.seconds)};
  } catch (const dnnl::error &error) {
    throw unavailable(error.what());
  }
}

/// Returns the minimum time of several runs, in seconds.
double CpuBenchmark::timeOf(CpuStep &step, double bestSeconds) const {
  constexpr int kMinRuns = 3, kMaxRuns = 20;
  constexpr double kMinTotalSeconds = 0.05;
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int i = 0; i < kMaxRuns && (i < kMinRuns || total < kMinTotalSeconds);
       ++i) {
    clock.evictCaches();
    const double begin = clock.seconds();
    step.run(*settings.workers);
    const double elapsed = clock.seconds() - begin;
    best = std::min(best, elapsed);
    total += elapsed;
    if (best > 2 * bestSeconds)
      break;
  }
  return best;
}

} // namespace brew::runtime
