//===- StopRule.cpp - Conditions that end a training run ------------------===//

#include "runtime/train/watch/StopRule.h"

#include "runtime/log/Log.h"
#include "support/Error.h"

#include <charconv>
#include <cmath>

namespace brew::runtime {

StopRule::StopRule(const std::string &rule, const MetricScope &scope)
    : criterion([&] {
        try {
          return Criterion(rule, scope);
        } catch (const TextError &problem) {
          throwTextError("--stop-when", rule, problem);
        }
      }()) {}

//===----------------------------------------------------------------------===//
// Patience
//===----------------------------------------------------------------------===//

Patience::Patience(const std::string &text, const MetricScope &scope) {
  auto fail = [&](std::size_t offset, const std::string &problem) {
    throwTextError("--patience", text, {offset, problem});
  };
  const std::size_t colon = text.find(':');
  const char *end = text.data() + (colon == text.npos ? text.size() : colon);
  const auto [stop, failed] = std::from_chars(text.data(), end, patience);
  if (failed != std::errc() || stop != end || patience < 1)
    fail(0, "expected a number of tests from 1 on");
  if (scope.testNets == 0)
    fail(0, "the solver has no test net");
  if (colon == text.npos) {
    const std::optional<MetricName> found = defaultMetric(scope);
    if (!found)
      fail(text.size(), "test net 0 has no accuracy and no loss: name a metric "
                        "(N:METRIC)");
    metric = *found;
    better = *betterOf(metric, scope);
    return;
  }
  try {
    const RankedMetric ranked =
        parseRankedMetric(std::string_view(text).substr(colon + 1), scope);
    metric = ranked.name;
    better = ranked.better;
  } catch (const TextError &problem) {
    fail(colon + 1 + problem.offset, problem.text);
  }
}

std::optional<std::string> Patience::afterTest(const MetricValues &values,
                                               int iteration) {
  const std::optional<double> value = values.value(metric);
  if (value && !std::isnan(*value) &&
      (!best || (better == Better::Higher ? *value > *best : *value < *best))) {
    best = value;
    bestIteration = iteration;
    testsWithoutImprovement = 0;
    return {};
  }
  if (++testsWithoutImprovement < patience)
    return {};
  return std::to_string(testsWithoutImprovement) +
         (testsWithoutImprovement == 1 ? " test" : " tests") +
         " without improvement of " + metric.text +
         (best ? ": the best was " + log::number(*best) + " after " +
                     std::to_string(bestIteration) + " iterations"
               : ": it never was a number");
}

} // namespace brew::runtime
