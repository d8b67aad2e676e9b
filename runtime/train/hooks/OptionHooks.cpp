//===- OptionHooks.cpp - Hooks of training options ------------------------===//

#include "runtime/train/hooks/OptionHooks.h"

#include <charconv>
#include <utility>

namespace brew::runtime {

Criterion parseStopRule(const std::string &rule, const MetricScope &scope) {
  try {
    return Criterion(rule, scope);
  } catch (const TextError &problem) {
    throwTextError("--stop-when", rule, problem);
  }
}

Patience parsePatience(const std::string &text, const MetricScope &scope) {
  auto fail = [&](std::size_t offset, const std::string &problem) {
    throwTextError("--patience", text, {offset, problem});
  };
  const std::size_t colon = text.find(':');
  const char *end = text.data() + (colon == text.npos ? text.size() : colon);
  int limit = 0;
  const auto [stop, failed] = std::from_chars(text.data(), end, limit);
  if (failed != std::errc() || stop != end || limit < 1)
    fail(0, "expected a number of tests from 1 on");
  if (scope.testNets == 0)
    fail(0, "the solver has no test net");
  RankedMetric metric;
  if (colon == text.npos) {
    const std::optional<MetricName> found = defaultMetric(scope);
    if (!found)
      fail(text.size(), "test net 0 has no accuracy and no loss: name a metric "
                        "(N:METRIC)");
    metric = {*found, *betterOf(*found, scope)};
  } else {
    try {
      metric =
          parseRankedMetric(std::string_view(text).substr(colon + 1), scope);
    } catch (const TextError &problem) {
      fail(colon + 1 + problem.offset, problem.text);
    }
  }
  return Patience(std::move(metric), limit, "test");
}

void addStopRule(Hooks &hooks, const std::string &rule,
                 const MetricScope &scope) {
  // Rules may name several nets.
  hooks.addOption(
      Schedule::atEach({HookTrigger::Solve, HookTrigger::Iteration,
                        HookTrigger::NetTest, HookTrigger::CallerTest},
                       scope.testNets - 1),
      parseStopRule(rule, scope), makeStop());
}

void addPatience(Hooks &hooks, const std::string &text,
                 const MetricScope &scope) {
  Patience patience = parsePatience(text, scope);
  const int net = patience.metricName().net;
  hooks.addOption(
      Schedule::atEach({HookTrigger::NetTest, HookTrigger::CallerTest}, net),
      std::nullopt, makeEarlyStop(std::move(patience)));
}

const BestMetric &addSnapshotBest(Hooks &hooks, const std::string &text,
                                  const MetricScope &scope) {
  RankedMetric metric;
  try {
    metric = parseRankedMetric(text, scope);
    if (metric.name.kind != MetricName::TestOutput)
      throw TextError{0, "expected a test result: test.OUTPUT or test1.OUTPUT"};
  } catch (const TextError &problem) {
    throwTextError("--snapshot-best", text, problem);
  }
  const int net = metric.name.net;
  std::unique_ptr<HookAction> action = makeSaveBest(std::move(metric));
  const BestMetric &best = *action->best();
  hooks.addOption(Schedule::atEach({HookTrigger::NetTest}, net), std::nullopt,
                  std::move(action));
  return best;
}

} // namespace brew::runtime
