//===- Criterion.h - Conditions on what training measures -------*- C++ -*-===//
//
//   criterion   = conjunction { "or" conjunction }
//   conjunction = factor { "and" factor }
//   factor      = primary [ "for" N ]
//   primary     = "not" primary | "(" criterion ")" | comparison
//               | ( "highest" | "lowest" ) METRIC | "external" NAME
//   comparison  = operand ("<" | "<=" | ">" | ">=" | "==" | "!=") operand
//   operand     = NUMBER | METRIC                       (MetricName.h)
//
// A metric that was not measured yet makes a comparison neither true nor false,
// and so whatever depends on it (Kleene's logic): such a criterion does not
// hold. "for", "highest", "lowest" and "external" remember earlier evaluations:
// they are for hooks, whose schedule says when a criterion is evaluated.
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

/// What code outside raises for criteria `external NAME`. Any thread.
class ExternalFlags {
public:
  void raise(const std::string &name);
  /// How often it was raised.
  std::uint64_t count(const std::string &name) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, std::uint64_t> counts;
};

class Criterion {
public:
  /// Throws TextError where `text` is none. With `remembers`, what remembers
  /// earlier evaluations is allowed.
  Criterion(const std::string &text, const MetricScope &scope,
            bool remembers = false);
  ~Criterion();
  Criterion(Criterion &&) noexcept;
  Criterion &operator=(Criterion &&) noexcept;

  /// One evaluation.
  bool holds(const MetricValues &values, const ExternalFlags *flags = nullptr);
  /// "test.accuracy >= 0.99 holds: test.accuracy = 0.9907"
  std::string reason(const MetricValues &values) const;
  /// Those it names, each once.
  const std::vector<MetricName> &metrics() const { return named; }
  /// Begins anew: nothing is remembered.
  void restart();

  struct Node;

private:
  std::string text;
  std::unique_ptr<Node> root;
  std::vector<MetricName> named;
};

} // namespace brew::runtime
