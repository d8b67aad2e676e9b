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

/// Returns null if the candidate is not available.
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

/// Returns the minimum time of several runs, or of one if it far exceeds
/// `least`.
double CallTuner::timeOf(Trial &trial, double least) {
  constexpr int kFewest = 3, kMost = 20;
  constexpr double kEnough = 0.05;         // seconds
  trial.call->bindScratch(scratch.data()); // others may have made it larger
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int i = 0; i < kMost && (i < kFewest || total < kEnough); ++i) {
    clock.evictCaches();
    const double begin = clock.seconds();
    trial.call->run();
    const double needed = clock.seconds() - begin;
    best = std::min(best, needed);
    total += needed;
    if (best > 2 * least)
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
  // The load of the machine may have changed since the first was measured:
  // measure both again.
  for (auto [candidate, time] :
       {std::pair(first, &result->first), std::pair(fastest, &result->fastest)})
    if (const std::unique_ptr<Trial> trial = prepare(*candidate))
      time->seconds =
          std::min(time->seconds,
                   timeOf(*trial, std::numeric_limits<double>::infinity()));
  if (result->fastest.seconds > (1 - kLeastGain) * result->first.seconds)
    result->fastest = result->first;
  return result;
}

} // namespace brew::runtime
