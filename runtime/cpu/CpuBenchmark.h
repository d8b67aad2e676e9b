//===- CpuBenchmark.h - Benchmark of a CPU call's candidates ----*- C++ -*-===//
#pragma once

#include "runtime/cpu/onednn/DnnlCall.h"
#include "runtime/executor/CallTuner.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// The candidates of a library call. They are listed when they are first
/// needed.
class CallCandidates : public TunableCall {
public:
  using List = std::vector<CallCandidate>;
  CallCandidates(std::string key, std::function<List()> makeList)
      : text(std::move(key)), makeList(std::move(makeList)) {}

  std::string key() const override { return text; }
  int candidates() const override { return static_cast<int>(list().size()); }
  std::string describe(int candidate) const override {
    return (*this)[candidate].name;
  }
  const CallCandidate &operator[](int candidate) const {
    return list()[static_cast<std::size_t>(candidate)];
  }

private:
  const List &list() const {
    if (!listed)
      listed = makeList();
    return *listed;
  }

  std::string text;
  std::function<List()> makeList;
  mutable std::optional<List> listed;
};

struct CpuClock {
  std::function<double()> seconds;
  /// Called before each timed run: evicts the operands from the caches, as the
  /// other steps of a net do.
  std::function<void()> evictCaches;
};

/// Returns the steady clock, which fills the caches of each thread with other
/// data. `workers` must outlive it.
CpuClock evictingClock(const Threads &workers);

/// Measures all candidates. The first one remains unless another is 2 % faster.
inline constexpr TuningPolicy kCpuTuningPolicy{std::numeric_limits<int>::max(),
                                               0, 0.02};

/// Runs on the compute threads.
class CpuBenchmark : public CallBenchmark {
public:
  /// The arguments must outlive this object.
  CpuBenchmark(const DnnlSettings &settings, const CpuClock &clock,
               const CallCandidates &call)
      : settings(settings), clock(clock), call(call) {}

  CallTime measure(int candidate, const CallTime &best) override;

private:
  double timeOf(CpuStep &step, double bestSeconds) const;

  const DnnlSettings &settings;
  const CpuClock &clock;
  const CallCandidates &call;
  Arena scratch;
};

} // namespace brew::runtime
