//===- Hooks.cpp - Scheduled actions of a training run --------------------===//

#include "runtime/train/hooks/Hooks.h"

#include "runtime/log/Log.h"
#include "support/Error.h"

#include <algorithm>
#include <utility>

namespace brew::runtime {

Hooks::Hooks(TrainerAccess &trainer, int netCount,
             std::vector<std::string> lookupFolders)
    : trainer(trainer), testNets(netCount), folders(std::move(lookupFolders)),
      statistics(trainer.session()), values(&statistics),
      background(trainer.session().events()) {
  listener = trainer.session().events().add([this](const Event &event) {
    values.update(event);
    if (const auto *progress = std::get_if<event::Progress>(&event))
      seconds = progress->seconds;
  });
}

Hooks::~Hooks() { trainer.session().events().remove(listener); }

void Hooks::throwIfRunning() const {
  if (running)
    throw usageError("a hook cannot add or remove hooks");
}

std::vector<BestMetric *> Hooks::bestMetrics() const {
  std::vector<BestMetric *> result;
  for (const auto *list : {&optionHooks, &hooks})
    for (const auto &hook : *list)
      if (BestMetric *best = hook->action->best())
        result.push_back(best);
  return result;
}

std::vector<MetricName> Hooks::Hook::metrics() const {
  std::vector<MetricName> result = action->metrics();
  if (criterion)
    result.insert(result.end(), criterion->metrics().begin(),
                  criterion->metrics().end());
  return result;
}

void Hooks::Hook::findUpdates() {
  updates = action->updatesOf();
  for (const MetricName &metric : metrics())
    for (const TensorName &parameter : metric.updatesOf())
      updates.push_back(parameter);
}

void Hooks::addOption(Schedule schedule, std::optional<Criterion> criterion,
                      std::unique_ptr<HookAction> action) {
  auto hook = std::make_unique<Hook>();
  hook->line.schedule = std::move(schedule);
  hook->criterion = std::move(criterion);
  hook->action = std::move(action);
  hook->findUpdates();
  optionHooks.push_back(std::move(hook));
}

bool Hooks::mayStop() const {
  return !hooks.empty() ||
         std::any_of(optionHooks.begin(), optionHooks.end(),
                     [](const auto &hook) { return hook->action->mayStop(); });
}

void Hooks::remove(const std::string &name) {
  throwIfRunning();
  const auto found =
      std::find_if(hooks.begin(), hooks.end(),
                   [&](const auto &hook) { return hook->name == name; });
  if (found == hooks.end())
    throw usageError("there is no hook '" + name + "'");
  for (const auto &hook : hooks)
    if (std::count(hook->dependencies.begin(), hook->dependencies.end(),
                   found->get()))
      throw usageError("hook '" + hook->name + "' needs hook '" + name + "'");
  background.wait();
  hooks.erase(found);
  order = sortByDependencies(hooks);
}

//===----------------------------------------------------------------------===//
// Triggers
//===----------------------------------------------------------------------===//

std::uint64_t Hooks::epochsAfter(int iteration) const {
  if (!tracksEpochs)
    return 0;
  return epochLength ? static_cast<std::uint64_t>(iteration) / *epochLength
                     : trainer.epochs();
}

void Hooks::countFrom(int iteration) {
  counts[static_cast<std::size_t>(HookTrigger::Iteration)] =
      static_cast<std::uint64_t>(iteration);
  auto &epochs = counts[static_cast<std::size_t>(HookTrigger::Epoch)];
  epochs = epochsAfter(iteration);
  if (tracksEpochs)
    values.setEpoch(epochs);
}

void Hooks::startAt(int iteration) {
  statistics.rememberWeights({});
  values = MetricValues(&statistics);
  // Resets are counted over restarts.
  const std::uint64_t resets =
      counts[static_cast<std::size_t>(HookTrigger::Reset)];
  counts = {};
  counts[static_cast<std::size_t>(HookTrigger::Reset)] = resets;
  hasStarted = true;
  countFrom(iteration);
  for (const auto &hook : optionHooks)
    hook->action->restart(iteration, seconds);
  startAt(order, iteration);
}

/// Returns the iteration after which the schedule was due last, if it counts
/// iterations or epochs.
std::optional<std::uint64_t> Hooks::lastDue(const Schedule &schedule,
                                            int iteration) const {
  const auto iterations = static_cast<std::uint64_t>(iteration);
  if (schedule.trigger() == HookTrigger::Iteration)
    return schedule.lastDue(iterations);
  if (schedule.trigger() != HookTrigger::Epoch)
    return {};
  const std::uint64_t epochs = epochsAfter(iteration);
  const std::optional<std::uint64_t> due = schedule.lastDue(epochs);
  if (!due || epochs == 0)
    return due;
  // Passes over the same records take about the same number of iterations.
  return *due * (epochLength ? *epochLength : iterations / epochs);
}

void Hooks::startAt(const std::vector<Hook *> &selected, int iteration) {
  // Apply lasting settings in the order in which they were due.
  std::vector<std::pair<Hook *, HookAction::Resumption>> lasting;
  for (Hook *hook : selected) {
    hook->action->restart(iteration, seconds);
    if (hook->criterion)
      hook->criterion->restart();
    else
      lasting.push_back(
          {hook, {iteration, lastDue(hook->line.schedule, iteration)}});
  }
  std::stable_sort(
      lasting.begin(), lasting.end(), [](const auto &a, const auto &b) {
        return a.second.lastDue.value_or(0) < b.second.lastDue.value_or(0);
      });
  for (const auto &[hook, resumption] : lasting)
    hook->action->resumeAt(trainer, resumption);
}

/// Returns whether the hook may run between the next iteration and the one
/// after it.
bool Hooks::mayBeDueAfterNext(const Hook &hook, int iteration) const {
  const Schedule &schedule = hook.line.schedule;
  switch (schedule.trigger()) {
  case HookTrigger::Iteration:
    return !schedule.isForLines() ||
           schedule.isDue(static_cast<std::uint64_t>(iteration),
                          static_cast<std::uint64_t>(iteration) + 1);
  case HookTrigger::Epoch:
    // Only a source knows when it ends an epoch.
    return !epochLength ||
           schedule.isDue(epochsAfter(iteration), epochsAfter(iteration + 1));
  default:
    return true;
  }
}

void Hooks::beforeIteration(int iteration) {
  std::vector<TensorName> parameters;
  for (const auto *list : {&optionHooks, &hooks})
    for (const auto &hook : *list)
      if (!hook->updates.empty() && !hook->disabled &&
          (hook->action->wantsSamples() || mayBeDueAfterNext(*hook, iteration)))
        parameters.insert(parameters.end(), hook->updates.begin(),
                          hook->updates.end());
  statistics.rememberWeights(parameters);
}

HookRequests Hooks::runOptions(HookTrigger trigger, int iteration, int net) {
  HookRequests hookRequests;
  for (const auto &hook : optionHooks)
    if (hook->line.schedule.isDueAt(trigger, net))
      run(*hook, trigger, iteration, hookRequests);
  return hookRequests;
}

HookRequests Hooks::runDue(HookTrigger trigger, int iteration, int net) {
  HookRequests hookRequests = runOptions(trigger, iteration, net);
  if (hooks.empty() || !isForLines(trigger))
    return hookRequests;
  const std::array<std::uint64_t, kHookTriggers> before = counts;
  auto count = [&](HookTrigger counted) -> std::uint64_t & {
    return counts[static_cast<std::size_t>(counted)];
  };
  if (trigger == HookTrigger::Iteration) {
    count(trigger) = static_cast<std::uint64_t>(iteration);
    count(HookTrigger::Epoch) = epochsAfter(iteration);
    if (tracksEpochs)
      values.setEpoch(count(HookTrigger::Epoch));
    for (Hook *hook : order)
      if (hook->action->wantsSamples())
        hook->action->sample(values);
  } else {
    ++count(trigger);
  }
  running = true;
  struct ClearAtExit {
    bool &flag;
    ~ClearAtExit() { flag = false; }
  } const scope{running};
  for (Hook *hook : order) {
    const auto i = static_cast<std::size_t>(hook->line.schedule.trigger());
    // Counts decrease when training restarts.
    if (!hook->disabled && counts[i] > before[i] &&
        hook->line.schedule.isDue(before[i], counts[i]))
      run(*hook, trigger, iteration, hookRequests);
  }
  return hookRequests;
}

bool Hooks::criterionHolds(Hook &hook, std::string &reason) {
  if (!hook.criterion)
    return true;
  if (!hook.criterion->holds(values, &flags))
    return false;
  reason = hook.criterion->reason(values);
  return true;
}

void Hooks::disable(Hook &hook, const std::string &failure) {
  hook.disabled = true;
  trainer.session().events().warning(
      log::site::brew, "Hook '" + hook.name + "' failed: " + failure +
                           "; it does not run again");
}

void Hooks::run(Hook &hook, HookTrigger trigger, int iteration,
                HookRequests &hookRequests) {
  std::string reason;
  if (!criterionHolds(hook, reason))
    return;
  const bool inBackground = hook.state != nullptr;
  if (inBackground) {
    if (!BackgroundHooks::isIdleOrCountSkip(*hook.state))
      return;
    std::lock_guard<std::mutex> lock(hook.state->mutex);
    if (!hook.state->failure.empty()) {
      disable(hook, hook.state->failure);
      return;
    }
  }
  HookCall call{hook.name,
                trigger,
                iteration,
                seconds,
                reason,
                values,
                statistics,
                trainer,
                hookRequests,
                inBackground,
                hook.line.schedule.isOnce()};
  const bool mayFail = hook.action->isReadOnly() && !hook.action->isCallback();
  try {
    HookAction::DeferredWork work = hook.action->run(call);
    if (!work)
      return;
    if (inBackground) {
      background.enqueue(hook.state, std::move(work));
      return;
    }
    for (const std::string &line : work())
      trainer.session().events().info(log::site::brew, line);
  } catch (const Error &error) {
    if (!mayFail)
      throw;
    disable(hook, error.what());
  }
}

void Hooks::finish() {
  background.wait();
  trainer.session().events().deliver();
  for (const auto &hook : hooks) {
    if (!hook->state || hook->disabled)
      continue;
    std::unique_lock<std::mutex> lock(hook->state->mutex);
    const std::string failure = hook->state->failure;
    lock.unlock();
    if (!failure.empty())
      disable(*hook, failure);
    if (const std::uint64_t dropped = std::exchange(hook->state->dropped, 0))
      trainer.session().events().info(
          log::site::brew, "Hook '" + hook->name + "' was too slow for " +
                               std::to_string(dropped) +
                               (dropped == 1 ? " turn" : " turns"));
  }
}

} // namespace brew::runtime
