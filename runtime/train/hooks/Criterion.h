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
// A comparison with a metric that was not measured yet is unknown, and so is
// everything that depends on it (Kleene's logic); an unknown criterion does not
// hold. "for", "highest", "lowest" and "external" depend on earlier
// evaluations: only hooks may use them, since their schedule defines the
// evaluations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/metrics/MetricName.h"

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
  /// How often the flag was raised.
  std::uint64_t count(const std::string &name) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, std::uint64_t> counts;
};

class Criterion {
public:
  /// Throws TextError if `text` is invalid. `remembers`: allows operators that
  /// depend on earlier evaluations.
  Criterion(const std::string &text, const MetricScope &scope,
            bool remembers = false);
  ~Criterion();
  Criterion(Criterion &&) noexcept;
  Criterion &operator=(Criterion &&) noexcept;

  /// Evaluates the criterion.
  bool holds(const MetricValues &values, const ExternalFlags *flags = nullptr);
  /// "test.accuracy >= 0.99 holds: test.accuracy = 0.9907"
  std::string reason(const MetricValues &values) const;
  /// The metrics it names, each once.
  const std::vector<MetricName> &metrics() const { return named; }
  /// Forgets earlier evaluations.
  void restart();

  struct Node;

private:
  std::string text;
  std::unique_ptr<Node> root;
  std::vector<MetricName> named;
};

} // namespace brew::runtime
