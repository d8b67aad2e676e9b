//===- Criterion.h - Conditions on training metrics -------------*- C++ -*-===//
//
//   criterion   = conjunction { "or" conjunction }
//   conjunction = factor { "and" factor }
//   factor      = primary [ "for" N ]
//   primary     = "not" primary | "(" criterion ")" | comparison
//               | ( "highest" | "lowest" ) METRIC | "external" NAME
//   comparison  = operand ("<" | "<=" | ">" | ">=" | "==" | "!=") operand
//   operand     = NUMBER | METRIC                       (MetricName.h)
//
// A comparison with a metric that has not been measured yet is unknown, and so
// is everything that depends on it (Kleene's logic). An unknown criterion does
// not hold. "for", "highest", "lowest" and "external" depend on earlier
// evaluations: only hooks may use them, since their schedule defines the
// evaluations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/metrics/MetricValues.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace brew::runtime {

/// Flags that the program raises, for criteria `external NAME`. Thread-safe.
class ExternalFlags {
public:
  void raise(const std::string &name);
  /// Returns how often the flag was raised.
  std::uint64_t count(const std::string &name) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, std::uint64_t> counts;
};

/// A parsed criterion, with the state of its earlier evaluations.
class Criterion {
public:
  /// Throws TextError if `text` is invalid. `allowsMemory`: allows operators
  /// that depend on earlier evaluations.
  Criterion(const std::string &text, const MetricScope &scope,
            bool allowsMemory = false);
  ~Criterion();
  Criterion(Criterion &&) noexcept;
  Criterion &operator=(Criterion &&) noexcept;

  /// Evaluates the criterion and returns whether it holds. `flags` may be null.
  bool holds(const MetricValues &values, const ExternalFlags *flags = nullptr);
  /// Returns the text and the values of its metrics:
  /// "test.accuracy >= 0.99 holds: test.accuracy = 0.9907".
  std::string reason(const MetricValues &values) const;
  /// Returns the metrics that the criterion names, each once.
  const std::vector<MetricName> &metrics() const { return usedMetrics; }
  /// Forgets earlier evaluations.
  void restart();

  struct Node;

private:
  std::string text;
  std::unique_ptr<Node> root;
  std::vector<MetricName> usedMetrics;
};

} // namespace brew::runtime
