//===- CallTuner.h - Choice of the fastest library calls --------*- C++ -*-===//
#pragma once

#include "runtime/executor/TimingCache.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace brew::runtime {

/// A library call that has several implementations ("candidates"), numbered
/// from 0 in the order of the library's or a cost model's estimate.
class TunableCall {
public:
  virtual ~TunableCall() = default;

  /// Returns the key in the timing cache, without the device: everything that
  /// determines the candidates. Calls with equal keys can share a choice.
  virtual std::string key() const = 0;
  virtual int candidates() const = 0;
  /// Returns a candidate's name, stable across runs with this library.
  virtual std::string describe(int candidate) const = 0;
  /// Returns the name of the candidate's engine. Candidates that differ only in
  /// settings have the same engine.
  virtual std::string engine(int candidate) const {
    return describe(candidate);
  }
  /// Returns whether the library and the limits allow the candidate.
  virtual bool isUsable(int) const { return true; }
  /// Frees the library's resources of a candidate, which must have no pending
  /// run. Its next use rebuilds the resources.
  virtual void release(int) {}
};

/// The time of a candidate. Prefers those that can be captured into a CUDA
/// graph: one that cannot would prevent a graph of the whole program.
struct CallTime {
  bool isGraph = false;
  double seconds = std::numeric_limits<double>::infinity();
  bool operator<(const CallTime &other) const {
    return isGraph != other.isGraph ? isGraph : seconds < other.seconds;
  }
};

/// Measures the candidates of a call. Overwrites the call's buffers.
class CallBenchmark {
public:
  virtual ~CallBenchmark() = default;

  /// Returns a candidate's minimum time of a few runs, after warm-up runs that
  /// may load or generate code. Stops early if the candidate takes more than
  /// twice the time `best`. Throws Error (3) if the candidate is not available.
  virtual CallTime measure(int candidate, const CallTime &best) = 0;
};

/// Which candidates a device measures, and which of them it chooses.
struct TuningPolicy {
  int maxPerEngine; ///< number of measured candidates of each engine
  /// If fewer candidates were measured, measures the remaining ones in order up
  /// to this number.
  int minCandidates;
  /// Fraction by which a candidate must be faster than the first one, so that
  /// the choice does not depend on noise. If it is not 0, both are measured
  /// again, since the load of the machine may have changed in between. For
  /// devices without graphs.
  double minGain;
};

/// Chooses the candidates of library calls, by the timing cache or by
/// measuring.
class CallTuner {
public:
  /// `device` is the prefix of the cache's keys. Unless `enabled`, ignores the
  /// cache and measures nothing until startTuning(). `cache` must outlive it.
  CallTuner(TimingCache &cache, std::string device, TuningPolicy policy,
            bool enabled)
      : cache(cache), device(std::move(device)), policy(policy),
        enabled(enabled) {}

  struct Candidate {
    int index = -1;
    std::string name;
    double seconds = 0;
  };
  struct Result {
    Candidate first;   ///< the first available candidate
    Candidate fastest; ///< `first`, unless another one is faster
    std::string error; ///< not empty if no candidate is available
  };
  using Action = std::function<void()>;

  /// Returns the candidate that the cache contains for the call, or nullopt.
  std::optional<int> find(const TunableCall &call) const;
  /// Returns the cached candidate; otherwise the fastest one, which it measures
  /// after a call of `prepare` and writes to the cache's file; if disabled, the
  /// first usable one. Throws Error (3) if no candidate is available.
  int choose(TunableCall &call, CallBenchmark &benchmark,
             const Action &prepare = {});

  /// Enables the tuner and discards the results of tune(). Throws Error (3) if
  /// the cache's file cannot be written.
  void startTuning() {
    cache.write();
    enabled = true;
    results.clear();
  }
  /// Measures the call, ignoring the cache's entry, and writes the fastest
  /// candidate to the cache's file. Calls `prepare` before and `restore`
  /// afterwards. Returns the earlier result if a call with this key was
  /// measured since startTuning(). The result is valid until startTuning().
  const Result &tune(TunableCall &call, CallBenchmark &benchmark,
                     const Action &prepare = {}, const Action &restore = {});

private:
  struct Search;
  Result measure(TunableCall &call, CallBenchmark &benchmark,
                 const Action &prepare);

  TimingCache &cache;
  const std::string device;
  const TuningPolicy policy;
  bool enabled;
  std::map<std::string, Result> results; ///< of tune(), by key
};

} // namespace brew::runtime
