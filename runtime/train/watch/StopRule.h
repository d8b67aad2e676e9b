//===- StopRule.h - Conditions that end a training run ----------*- C++ -*-===//
//
// A criterion (hooks/Criterion.h) that is looked at after each iteration and
// after the tests.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/hooks/Criterion.h"

#include <optional>
#include <string>

namespace brew::runtime {

class StopRule {
public:
  /// Throws Error (2) with the column where `text` is no rule.
  StopRule(const std::string &text, const plan::Manifest &manifest,
           int testNets);

  bool holds(const MetricValues &values) { return criterion.holds(values); }
  /// "test.accuracy >= 0.99 holds: test.accuracy = 0.9907"
  std::string reason(const MetricValues &values) const {
    return criterion.reason(values);
  }

private:
  Criterion criterion;
};

/// Ends training when a metric of the tests has not become better for some
/// time.
class Patience {
public:
  /// `text` is N[:METRIC[:min|:max]]. Throws Error (2) where it is not.
  Patience(const std::string &text, const plan::Manifest &manifest,
           int testNets);

  /// After a test of the metric's net: what to say if it is time to stop.
  std::optional<std::string> afterTest(const MetricValues &values,
                                       int iteration);
  /// Counts anew, without a best.
  void restart() {
    best.reset();
    bestIteration = without = 0;
  }
  /// The test net that is watched.
  int net() const { return metric.net; }

private:
  MetricName metric;
  Better better = Better::Higher;
  int patience = 0;
  std::optional<double> best;
  int bestIteration = 0, without = 0; ///< tests since the best
};

} // namespace brew::runtime
