//===- CallTuner.h - The fastest way to do a call -------------*- C++ -*-===//
#pragma once

#include "runtime/cpu/onednn/DnnlCall.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Measures the ways to do a call, on the operands' own memory, whose contents
/// it changes. Used on the threads that compute.
class CallTuner {
public:
  struct Clock {
    std::function<double()> seconds;
    /// Called before each timed run: does to the caches what the other steps of
    /// a net do.
    std::function<void()> evictCaches;
  };
  /// Calls are made for an oneDNN like `context`, which is not changed.
  CallTuner(const DnnlContext &context, Clock clock)
      : context(context), clock(std::move(clock)) {}

  struct Time {
    std::string name; ///< the candidate's
    double seconds = 0;
  };
  struct Choice {
    Time first;   ///< of the first candidate that can be done
    Time fastest; ///< the same, unless another one is faster by kLeastGain
  };
  /// Of two candidates that are about as fast the first stays, so that the
  /// choice does not hang on chance.
  static constexpr double kLeastGain = 0.02;

  /// Nothing if none of the candidates can be done.
  std::optional<Choice> choose(const std::vector<CallCandidate> &candidates);

private:
  /// A candidate that is ready to run.
  struct Trial;
  std::unique_ptr<Trial> prepare(const CallCandidate &candidate);
  double timeOf(Trial &trial, double least);

  const DnnlContext &context;
  Clock clock;
  Arena scratch;
};

} // namespace brew::runtime
