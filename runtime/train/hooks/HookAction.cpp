//===- HookAction.cpp - Actions of hooks ----------------------------------===//

#include "runtime/train/hooks/HookAction.h"

#include "support/NumberText.h"
#include "support/Suggest.h"

#include <cmath>
#include <utility>

namespace brew::runtime {
namespace {

struct Verb {
  const char *name;
  std::unique_ptr<HookAction> (*make)(ActionWords &, const ActionContext &);
  bool producesValue;
};

template <std::unique_ptr<HookAction> (*Make)(ActionWords &)>
std::unique_ptr<HookAction> withoutContext(ActionWords &words,
                                           const ActionContext &) {
  return Make(words);
}

constexpr Verb kVerbs[] = {
    {"stop", withoutContext<makeStop>, false},
    {"snapshot", makeSnapshot, false},
    {"test", makeTest, false},
    {"set", makeSet, false},
    {"clip", makeClip, false},
    {"scale", makeScale, false},
    {"freeze", makeFreeze, false},
    {"unfreeze", makeUnfreeze, false},
    {"reinitialise", makeReinitialise, false},
    {"load", makeLoad, false},
    {"restore", makeRestore, false},
    {"print", makePrint, false},
    {"run", makeRun, false},
    {"save_best", makeSaveBest, true},
    {"early_stop", makeEarlyStop, true},
    {"report", makeReport, true},
    {"accumulate", makeAccumulate, true},
    {"report_time", makeReportTime, true},
    {"report_progress", withoutContext<makeReportProgress>, false},
    {"report_accuracy", makeReportAccuracy, true},
    {"report_updates", makeReportUpdates, true},
    {"maximise", makeMaximise, true},
};

} // namespace

std::string linePrefix(const HookCall &call) {
  return "Iteration " + std::to_string(call.iteration) + ", " + call.name +
         ": ";
}

HookAction::DeferredWork logLine(std::string line) {
  return [line = std::move(line)] { return std::vector<std::string>{line}; };
}

int ActionWords::nextNumber(const std::string &expected, int minimum) {
  const HookWord &word = next(expected);
  const std::optional<int> number = parseInteger(word.text);
  if (!number || *number < minimum)
    throw TextError{word.offset,
                    "expected " + expected + ", found '" + word.text + "'"};
  return *number;
}

double ActionWords::nextReal(const std::string &expected) {
  const HookWord &word = next(expected);
  const std::optional<double> number = parseDouble(word.text);
  if (!number || !std::isfinite(*number))
    throw TextError{word.offset,
                    "expected " + expected + ", found '" + word.text + "'"};
  return *number;
}

MetricName ActionWords::nextMetric(const MetricScope &scope) {
  const HookWord &word = next("a metric");
  try {
    return parseMetricName(word.text, scope);
  } catch (const TextError &problem) {
    throw TextError{word.offset + problem.offset, problem.text};
  }
}

RankedMetric ActionWords::nextRankedMetric(const MetricScope &scope) {
  const HookWord &word = next("a metric");
  try {
    return parseRankedMetric(word.text, scope);
  } catch (const TextError &problem) {
    throw TextError{word.offset + problem.offset, problem.text};
  }
}

bool producesValue(const std::string &name) {
  for (const Verb &verb : kVerbs)
    if (name == verb.name)
      return verb.producesValue;
  return false;
}

std::unique_ptr<HookAction> makeAction(const HookLine &line,
                                       const ActionContext &context) {
  ActionWords words(line.action, line.end);
  const HookWord &name = words.next("an action");
  std::vector<std::string> names;
  for (const Verb &verb : kVerbs) {
    if (!name.quoted && name.text == verb.name) {
      std::unique_ptr<HookAction> action = verb.make(words, context);
      words.expectEnd();
      if (line.background && !action->isReadOnly())
        throw TextError{
            name.offset,
            "'" + name.text +
                "' affects training, so it cannot run in the background"};
      return action;
    }
    names.push_back(verb.name);
  }
  std::string list;
  for (const std::string &verbName : names)
    list += (list.empty() ? "" : ", ") + verbName;
  throw TextError{name.offset, "there is no action '" + name.text + "'" +
                                   didYouMean(name.text, names) +
                                   " (there are: " + list + ")"};
}

} // namespace brew::runtime
