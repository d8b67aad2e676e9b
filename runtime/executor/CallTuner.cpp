//===- CallTuner.cpp - Choice of the fastest library calls ----------------===//
#include "runtime/executor/CallTuner.h"

#include "support/Error.h"

#include <algorithm>
#include <vector>

namespace brew::runtime {

static std::string noCandidateMessage(const TunableCall &call) {
  return "no engine can be used for " + call.key() +
         " within --workspace-limit";
}

/// The search for a call's fastest candidate.
struct CallTuner::Search {
  TunableCall &call;
  CallBenchmark &benchmark;
  const TuningPolicy &policy;
  Result result = {};
  CallTime best = {};
  int measured = 0; ///< number of measured candidates
  std::map<std::string, int> measuredPerEngine = {};

  /// Returns nullopt if the candidate is not available: the library may suggest
  /// candidates that it cannot run.
  std::optional<CallTime> timeOf(int candidate, const CallTime &limit) {
    try {
      return benchmark.measure(candidate, limit);
    } catch (const Error &error) {
      if (error.status() != ExitStatus::Unavailable)
        throw;
      if (result.error.empty())
        result.error = error.what();
      return std::nullopt;
    }
  }

  /// Measures a candidate if it is usable. Releases the slower of this
  /// candidate and the best one so far.
  void measure(int candidate) {
    const std::optional<CallTime> time =
        call.isUsable(candidate) ? timeOf(candidate, best) : std::nullopt;
    if (!time)
      return call.release(candidate);
    const Candidate timed{candidate, call.describe(candidate), time->seconds};
    if (measured++ == 0)
      result.first = result.fastest = timed;
    else if (*time < best)
      call.release(std::exchange(result.fastest, timed).index);
    else
      call.release(candidate);
    if (result.fastest.index == candidate)
      best = *time;
    ++measuredPerEngine[call.engine(candidate)];
  }

  void run() {
    std::vector<int> remaining;
    for (int i = 0; i < call.candidates(); ++i)
      if (measuredPerEngine[call.engine(i)] < policy.maxPerEngine)
        measure(i);
      else
        remaining.push_back(i);
    for (int i : remaining)
      if (measured < policy.minCandidates)
        measure(i);
    if (measured > 0)
      result.error.clear();
    else if (result.error.empty())
      result.error = noCandidateMessage(call);
    if (policy.minGain == 0 || result.first.index == result.fastest.index)
      return;
    for (Candidate *candidate : {&result.first, &result.fastest})
      if (const auto time = timeOf(candidate->index, {}))
        candidate->seconds = std::min(candidate->seconds, time->seconds);
    result.error.clear();
    if (result.fastest.seconds > (1 - policy.minGain) * result.first.seconds)
      result.fastest = result.first;
  }
};

std::optional<int> CallTuner::find(const TunableCall &call) const {
  if (!enabled || cache.isEmpty())
    return std::nullopt;
  if (const TimingCache::Choice *choice = cache.find(device + call.key()))
    for (int i = 0; i < call.candidates(); ++i)
      if (call.describe(i) == choice->candidate && call.isUsable(i))
        return i;
  return std::nullopt;
}

int CallTuner::choose(TunableCall &call, CallBenchmark &benchmark,
                      const Action &prepare) {
  if (!enabled || call.candidates() == 1) {
    for (int i = 0; i < call.candidates(); ++i)
      if (call.isUsable(i))
        return i;
    throw unavailable(noCandidateMessage(call));
  }
  if (const std::optional<int> cached = find(call))
    return *cached;
  const Result result = measure(call, benchmark, prepare);
  if (!result.error.empty())
    throw unavailable(result.error);
  cache.saveOrWarn(); // keeps the choice if the process is killed
  return result.fastest.index;
}

const CallTuner::Result &CallTuner::tune(TunableCall &call,
                                         CallBenchmark &benchmark,
                                         const Action &prepare,
                                         const Action &restore) {
  const std::string key = call.key();
  if (const auto earlier = results.find(key); earlier != results.end())
    return earlier->second;
  Result result = measure(call, benchmark, prepare);
  if (restore)
    restore();
  if (result.error.empty())
    cache.write(); // keeps the choice if the process is killed
  return results.emplace(key, std::move(result)).first->second;
}

CallTuner::Result CallTuner::measure(TunableCall &call,
                                     CallBenchmark &benchmark,
                                     const Action &prepare) {
  if (prepare)
    prepare();
  Search search{call, benchmark, policy};
  search.run();
  const Candidate &fastest = search.result.fastest;
  if (search.result.error.empty())
    cache.set(device + call.key(), {fastest.name, fastest.seconds * 1e6});
  return std::move(search.result);
}

} // namespace brew::runtime
