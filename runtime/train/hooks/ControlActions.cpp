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

/// Returns the beginning of a reason to stop: the hook, unless an option added
/// it.
std::string sourceOf(const HookCall &call) {
  return call.name.empty() ? "" : "hook '" + call.name + "': ";
}

class Stop : public HookAction {
public:
  DeferredWork run(HookCall &call) override {
    if (!call.hookRequests.stop)
      call.hookRequests.stop = call.reason.empty()
                                   ? "hook '" + call.name + "' says so"
                                   : sourceOf(call) + call.reason;
    return {};
  }
  bool mayStop() const override { return true; }
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
  bool appliesFromBeginning() const override { return true; }
  void resumeAt(TrainerAccess &trainer, const Resumption &resumption) override {
    // A schedule applies from the first iteration on.
    if (schedule || resumption.lastDue)
      set(trainer, resumption.iteration);
  }

private:
  /// No-op if the value is unchanged.
  void set(TrainerAccess &trainer, int iteration) {
    const std::optional<std::string> newValue =
        schedule ? schedule->at(iteration) : std::optional(value);
    if (!newValue)
      return;
    caffe::SolverParameter candidate = trainer.solver();
    setSolverField(candidate, field, *newValue);
    if (solverFieldText(candidate, field) != trainer.control().get(field))
      trainer.control().set(field, *newValue);
  }

  std::string field, value;
  std::optional<ValueSchedule> schedule;
};

/// Stops training if a metric has not improved for some evaluations.
class EarlyStop : public HookAction {
public:
  explicit EarlyStop(Patience patience) : patience(std::move(patience)) {}
  DeferredWork run(HookCall &call) override {
    const std::optional<double> current =
        call.values.value(patience.metricName());
    if (!current)
      return {};
    if (patience.isImproved(*current, call.iteration))
      call.values.setHook(call.name, *current);
    else if (patience.isExhausted() && !call.hookRequests.stop)
      call.hookRequests.stop = sourceOf(call) + patience.reason();
    return {};
  }
  std::vector<MetricName> metrics() const override {
    return {patience.metricName()};
  }
  void restart(int, double) override { patience.restart(); }
  bool mayStop() const override { return true; }

private:
  Patience patience;
};

} // namespace

std::unique_ptr<HookAction> makeStop() { return std::make_unique<Stop>(); }
std::unique_ptr<HookAction> makeStop(ActionWords &) { return makeStop(); }

std::unique_ptr<HookAction> makeEarlyStop(Patience patience) {
  return std::make_unique<EarlyStop>(std::move(patience));
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
      if (net >= kMaxNamedTestNets)
        before.fail("only the first " + std::to_string(kMaxNamedTestNets) +
                    " test nets can be named");
      nets.push_back(net);
    } while (words.take(","));
  return std::make_unique<Test>(std::move(nets));
}

std::unique_ptr<HookAction> makeSet(ActionWords &words,
                                    const ActionContext &context) {
  const HookWord field = words.next("a field of the solver");
  const SolverField *solverField = findSolverField(field.text);
  if (!solverField || !solverField->whileTraining) {
    std::vector<std::string> names;
    for (const SolverField &candidate : solverFields())
      if (candidate.whileTraining)
        names.push_back(candidate.name);
    throw TextError{field.offset, solverField
                                      ? "the solver's field '" + field.text +
                                            "' can only be set before training"
                                      : "the solver has no field '" +
                                            field.text + "' that can be set" +
                                            didYouMean(field.text, names)};
  }
  // Reports values that the plan does not support when the hook is added.
  auto check = [&](const std::string &value) {
    caffe::SolverParameter candidate = context.trainer.solver();
    setSolverField(candidate, field.text, value);
    context.trainer.control().validate(candidate);
  };
  if (words.take("from")) {
    const HookWord &file = words.next("the name of a file");
    const bool linear = words.take("linearly");
    if (linear && solverField->kind != SolverField::Number)
      throw TextError{field.offset, "only a number can change linearly, and '" +
                                        field.text + "' is not one"};
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

std::unique_ptr<HookAction> makeEarlyStop(ActionWords &words,
                                          const ActionContext &context) {
  RankedMetric metric = words.nextRankedMetric(context.scope);
  words.require("patience");
  const int patience = words.nextNumber("a number from 1 on", 1);
  return makeEarlyStop(Patience(std::move(metric), patience, "evaluation"));
}

} // namespace brew::runtime
