//===- ControlActions.cpp - Hook actions that affect training -------------===//

#include "runtime/train/hooks/HookAction.h"

#include "runtime/log/Log.h"
#include "runtime/train/SolverFields.h"
#include "runtime/train/hooks/ValueSchedule.h"
#include "support/NumberText.h"

#include "support/Error.h"
#include "support/Suggest.h"

#include <cmath>

namespace brew::runtime {
namespace {

class Stop : public HookAction {
public:
  DeferredWork run(HookCall &call) override {
    if (!call.hookRequests.stop)
      call.hookRequests.stop =
          "hook '" + call.name + "'" +
          (call.reason.empty() ? " says so" : ": " + call.reason);
    return {};
  }
};

class Snapshot : public HookAction {
public:
  DeferredWork run(HookCall &call) override {
    call.hookRequests.snapshot = true;
    return {};
  }
};

class Test : public HookAction {
public:
  explicit Test(std::vector<int> nets) : nets(std::move(nets)) {}
  DeferredWork run(HookCall &call) override {
    for (int net : nets)
      call.hookRequests.tests.push_back(net);
    return {};
  }

private:
  std::vector<int> nets;
};

/// Sets a field of the solver to one value or to a schedule's values.
class Set : public HookAction {
public:
  Set(std::string field, std::string value)
      : field(std::move(field)), value(std::move(value)) {}
  Set(std::string field, ValueSchedule schedule)
      : field(std::move(field)), schedule(std::move(schedule)) {}

  DeferredWork run(HookCall &call) override {
    set(call.trainer, call.iteration);
    return {};
  }
  void resumeAt(TrainerAccess &trainer, int iteration,
                std::optional<std::uint64_t> lastDue) override {
    // A schedule applies from the first iteration on.
    if (schedule || lastDue)
      set(trainer, iteration);
  }

private:
  /// No-op if the value is unchanged.
  void set(TrainerAccess &trainer, int iteration) {
    const std::optional<std::string> wanted =
        schedule ? schedule->at(iteration) : std::optional(value);
    if (!wanted)
      return;
    caffe::SolverParameter changed = trainer.solver();
    setSolverField(changed, field, *wanted);
    if (solverFieldText(changed, field) != trainer.control().get(field))
      trainer.control().set(field, *wanted);
  }

  std::string field, value;
  std::optional<ValueSchedule> schedule;
};

class SaveBest : public HookAction {
public:
  explicit SaveBest(RankedMetric metric) : sought(std::move(metric)) {}
  DeferredWork run(HookCall &call) override {
    const std::optional<double> now = call.values.value(sought.metricName());
    if (now && sought.improves(*now, call.iteration)) {
      call.values.setHook(call.name, *now);
      call.hookRequests.best.push_back(&sought);
    }
    return {};
  }
  std::vector<MetricName> metrics() const override {
    return {sought.metricName()};
  }
  BestMetric *best() override { return &sought; }

private:
  BestMetric sought;
};

/// Stops if a metric has not improved for a number of calls.
class EarlyStop : public HookAction {
public:
  EarlyStop(RankedMetric metric, int patience)
      : metric(metric), best(std::move(metric)), patience(patience) {}
  DeferredWork run(HookCall &call) override {
    const std::optional<double> now = call.values.value(metric.name);
    if (!now)
      return {};
    if (best.improves(*now, call.iteration)) {
      call.values.setHook(call.name, *now);
      without = 0;
      return {};
    }
    if (++without < patience || call.hookRequests.stop)
      return {};
    call.hookRequests.stop =
        "hook '" + call.name + "': " + std::to_string(without) +
        (without == 1 ? " look" : " looks") + " without improvement of " +
        metric.name.text +
        (best.best()
             ? ": the best was " + log::number(*best.best()) + " after " +
                   std::to_string(best.bestIteration()) + " iterations"
             : ": it never was a number");
    return {};
  }
  std::vector<MetricName> metrics() const override { return {metric.name}; }
  void restart() override {
    best = BestMetric(metric);
    without = 0;
  }

private:
  RankedMetric metric;
  BestMetric best;
  int patience, without = 0;
};

RankedMetric nextRankedMetric(ActionWords &words, const MetricScope &scope) {
  const HookWord &word = words.next("a metric");
  try {
    return parseRankedMetric(word.text, scope);
  } catch (const TextError &problem) {
    throw TextError{word.offset + problem.offset, problem.text};
  }
}

} // namespace

std::unique_ptr<HookAction> makeStop(ActionWords &) {
  return std::make_unique<Stop>();
}

std::unique_ptr<HookAction> makeSnapshot(ActionWords &,
                                         const ActionContext &context) {
  context.trainer.requireSnapshots();
  return std::make_unique<Snapshot>();
}

std::unique_ptr<HookAction> makeTest(ActionWords &words,
                                     const ActionContext &context) {
  const int count = context.scope.testNets;
  if (count == 0)
    words.fail("the solver has no test net");
  std::vector<int> nets;
  if (words.atEnd())
    for (int net = 0; net < count; ++net)
      nets.push_back(net);
  else
    do {
      ActionWords before = words;
      const int net = words.nextNumber("the number of a test net", 0);
      if (net >= count)
        before.fail("there is no test net " + std::to_string(net) +
                    ": the solver has " + std::to_string(count));
      if (net >= kNamedTests)
        before.fail("only the first " + std::to_string(kNamedTests) +
                    " test nets can be named");
      nets.push_back(net);
    } while (words.take(","));
  return std::make_unique<Test>(std::move(nets));
}

std::unique_ptr<HookAction> makeSet(ActionWords &words,
                                    const ActionContext &context) {
  const HookWord field = words.next("a field of the solver");
  const SolverField *known = findSolverField(field.text);
  if (!known || !known->whileTraining) {
    std::vector<std::string> names;
    for (const SolverField &each : solverFields())
      if (each.whileTraining)
        names.push_back(each.name);
    throw TextError{field.offset, known
                                      ? "the solver's field '" + field.text +
                                            "' can only be set before training"
                                      : "the solver has no field '" +
                                            field.text + "' that can be set" +
                                            didYouMean(field.text, names)};
  }
  /// Report values that the plan does not support immediately.
  auto check = [&](const std::string &value) {
    caffe::SolverParameter candidate = context.trainer.solver();
    setSolverField(candidate, field.text, value);
    context.trainer.control().validate(candidate);
  };
  if (words.take("from")) {
    const HookWord &file = words.next("the name of a file");
    const bool linear = words.take("linearly");
    if (linear && known->kind != SolverField::Number)
      throw TextError{field.offset,
                      "only numbers go linearly, '" + field.text + "' is none"};
    ValueSchedule schedule(file.text, context.folders, linear, check);
    return std::make_unique<Set>(field.text, std::move(schedule));
  }
  const HookWord &value = words.next("a value, or 'from' and a file");
  std::string text = value.text;
  const std::size_t offset = value.offset;
  while (words.take(","))
    text += "," + words.next("a value").text;
  try {
    check(text);
  } catch (const Error &error) {
    throw TextError{offset, error.what()};
  }
  return std::make_unique<Set>(field.text, text);
}

std::unique_ptr<HookAction> makeSaveBest(ActionWords &words,
                                         const ActionContext &context) {
  if (!context.trainer.hasAllHistory())
    words.fail("save_best does not work with a sharded update: no rank has the "
               "full solver history");
  RankedMetric metric = nextRankedMetric(words, context.scope);
  context.trainer.requireSnapshots();
  return std::make_unique<SaveBest>(std::move(metric));
}

std::unique_ptr<HookAction> makeEarlyStop(ActionWords &words,
                                          const ActionContext &context) {
  RankedMetric metric = nextRankedMetric(words, context.scope);
  words.require("patience");
  const int patience = words.nextNumber("a number from 1 on", 1);
  return std::make_unique<EarlyStop>(std::move(metric), patience);
}

} // namespace brew::runtime
