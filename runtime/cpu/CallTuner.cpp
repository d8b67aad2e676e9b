//===- CallTuner.cpp - The fastest way to do a call ---------------------===//
#include "runtime/cpu/CallTuner.h"

#include "support/Error.h"

#include <algorithm>
#include <limits>

namespace brew::runtime {

struct CallTuner::Trial {
  DnnlContext context; ///< with packed weights of its own
  std::unique_ptr<CpuCall> call;
};

/// Null where the candidate cannot be done.
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
    trial->call->run(); // the first run may load or make code
  } catch (const dnnl::error &) {
    return nullptr;
  } catch (const Error &error) {
    if (error.status() != ExitStatus::Unavailable)
      throw;
    return nullptr; // as too much memory
  }
  return trial;
}

/// The least of several runs; of one, if that is far from `least`.
double CallTuner::timeOf(Trial &trial, double least) {
  constexpr int kFewest = 3, kMost = 20;
  constexpr double kEnough = 0.05;  // seconds
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
  // The first was measured before all others, perhaps on a machine that did
  // something else then: both once more.
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
