//===- StopRule.h - Conditions that end a training run ----------*- C++ -*-===//
//
// Criteria (hooks/Criterion.h) evaluated after each iteration and after the
// tests.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/hooks/Criterion.h"

#include <optional>
#include <string>

namespace brew::runtime {

/// A criterion that ends training when it holds.
class StopRule {
public:
  /// Throws Error (2) with the column if `text` is not a valid rule.
  StopRule(const std::string &text, const MetricScope &scope);

  bool holds(const MetricValues &values) { return criterion.holds(values); }
  /// Returns "test.accuracy >= 0.99 holds: test.accuracy = 0.9907".
  std::string reason(const MetricValues &values) const {
    return criterion.reason(values);
  }

private:
  Criterion criterion;
};

/// Ends training if a test metric has not improved for some time.
class Patience {
public:
  /// `text` is N[:METRIC[:min|:max]]. Throws Error (2) if it is invalid.
  Patience(const std::string &text, const MetricScope &scope);

  /// Call after a test of the metric's net; returns the reason if training
  /// should stop.
  std::optional<std::string> afterTest(const MetricValues &values,
                                       int iteration);
  /// Restarts the count, without a best value.
  void restart() {
    best.reset();
    bestIteration = testsWithoutImprovement = 0;
  }
  /// Returns the number of the test net.
  int net() const { return metric.net; }

private:
  MetricName metric;
  Better better = Better::Higher;
  int patience = 0;
  std::optional<double> best;
  int bestIteration = 0, testsWithoutImprovement = 0;
};

} // namespace brew::runtime
