//===- CallTuner.cpp - Benchmark of a call's candidates -------------------===//
#include "runtime/cpu/CallTuner.h"

#include "support/Error.h"

#include <algorithm>
#include <limits>

namespace brew::runtime {

struct CallTuner::Trial {
  DnnlContext context; ///< with packed weights of its own
  std::unique_ptr<CpuCall> call;
};

/// Prepares a candidate and runs it once. Returns null if it is not available.
std::unique_ptr<CallTuner::Trial>
CallTuner::prepare(const CallCandidate &candidate) {
  auto trial = std::make_unique<Trial>();
  trial->context.engine = context.engine;
  trial->context.stream = context.stream;
  trial->context.threads = context.threads;
  trial->context.workers = context.workers;
  trial->context.exactConvolutions = context.exactConvolutions;
  try {
    trial->call = candidate.make(trial->context);
    if (!trial->call)
      return nullptr;
    if (const std::uint64_t bytes = trial->call->scratchBytes();
        bytes > scratch.size()) {
      scratch = Arena();
      scratch = Arena(bytes, "memory to try a call in");
    }
    trial->call->bindScratch(scratch.data());
    trial->call->pack();
    trial->call->run(); // the first run may load or generate code
  } catch (const dnnl::error &) {
    return nullptr;
  } catch (const Error &error) {
    if (error.status() != ExitStatus::Unavailable)
      throw;
    return nullptr; // e.g. out of memory
  }
  return trial;
}

/// Returns the minimum time of several runs, in seconds. Ends after fewer runs
/// if the minimum exceeds twice `fastestSeconds`.
double CallTuner::timeOf(Trial &trial, double fastestSeconds) {
  constexpr int kMinRuns = 3, kMaxRuns = 20;
  constexpr double kMinTotalSeconds = 0.05;
  trial.call->bindScratch(
      scratch.data()); // another trial may have reallocated it
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int i = 0; i < kMaxRuns && (i < kMinRuns || total < kMinTotalSeconds);
       ++i) {
    clock.evictCaches();
    const double begin = clock.seconds();
    trial.call->run();
    const double elapsed = clock.seconds() - begin;
    best = std::min(best, elapsed);
    total += elapsed;
    if (best > 2 * fastestSeconds)
      break;
  }
  return best;
}

std::optional<CallTuner::Choice>
CallTuner::choose(const std::vector<CallCandidate> &candidates) {
  std::optional<Choice> result;
  const CallCandidate *first = nullptr, *fastest = nullptr;
  for (const CallCandidate &candidate : candidates) {
    const std::unique_ptr<Trial> trial = prepare(candidate);
    if (!trial)
      continue;
    const Time time{
        candidate.name,
        timeOf(*trial, result ? result->fastest.seconds
                              : std::numeric_limits<double>::infinity())};
    if (!result) {
      result = {time, time};
      first = fastest = &candidate;
    } else if (time.seconds < result->fastest.seconds) {
      result->fastest = time;
      fastest = &candidate;
    }
  }
  if (first == fastest)
    return result;
  // The load of the machine may have changed since the first candidate was
  // measured: measure both again.
  for (auto [candidate, time] :
       {std::pair(first, &result->first), std::pair(fastest, &result->fastest)})
    if (const std::unique_ptr<Trial> trial = prepare(*candidate))
      time->seconds =
          std::min(time->seconds,
                   timeOf(*trial, std::numeric_limits<double>::infinity()));
  if (result->fastest.seconds > (1 - kMinGain) * result->first.seconds)
    result->fastest = result->first;
  return result;
}

} // namespace brew::runtime
