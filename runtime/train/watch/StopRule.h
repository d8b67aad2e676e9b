//===- StopRule.h - Conditions that end a training run ----------*- C++ -*-===//
//
//   rule       = conjunction { "or" conjunction }
//   conjunction = factor { "and" factor }
//   factor     = "not" factor | "(" rule ")" | comparison
//   comparison = operand ("<" | "<=" | ">" | ">=" | "==" | "!=") operand
//   operand    = NUMBER | METRIC                       (MetricName.h)
//
// A metric that was not measured yet makes a comparison neither true nor false,
// and so whatever depends on it (Kleene's logic): such a rule does not hold.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/MetricName.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

class StopRule {
public:
  /// Throws Error (2) with the column where `text` is no rule.
  StopRule(const std::string &text, const plan::Manifest &manifest,
           int testNets);
  ~StopRule();
  StopRule(StopRule &&) noexcept;

  bool holds(const MetricValues &values) const;
  /// "test.accuracy >= 0.99 holds: test.accuracy = 0.9907"
  std::string reason(const MetricValues &values) const;

  struct Node;

private:
  std::string text;
  std::unique_ptr<Node> root;
  std::vector<MetricName> metrics; ///< those it names, each once
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
