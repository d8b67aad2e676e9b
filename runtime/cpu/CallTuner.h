//===- CallTuner.h - Benchmark of a call's candidates -----------*- C++ -*-===//
#pragma once

#include "runtime/cpu/onednn/DnnlCall.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Benchmarks the candidates of a call on its operands' memory, whose contents
/// it overwrites. Runs on the compute threads.
class CallTuner {
public:
  struct Clock {
    std::function<double()> seconds;
    /// Called before each timed run: evicts the operands from the caches, as
    /// the other steps of a net do.
    std::function<void()> evictCaches;
  };
  /// Creates calls with a copy of `context`.
  CallTuner(const DnnlContext &context, Clock clock)
      : context(context), clock(std::move(clock)) {}

  struct Time {
    std::string name; ///< of the candidate
    double seconds = 0;
  };
  struct Choice {
    Time first;   ///< of the first available candidate
    Time fastest; ///< `first`, unless another one is faster by kMinGain
  };
  /// Fraction by which a candidate must be faster than the first, so that the
  /// choice does not depend on noise.
  static constexpr double kMinGain = 0.02;

  /// Benchmarks the candidates. Returns nullopt if none is available.
  std::optional<Choice> choose(const std::vector<CallCandidate> &candidates);

private:
  /// A candidate that is ready to run.
  struct Trial;
  std::unique_ptr<Trial> prepare(const CallCandidate &candidate);
  double timeOf(Trial &trial, double fastestSeconds);

  const DnnlContext &context;
  Clock clock;
  Arena scratch;
};

} // namespace brew::runtime
