//===- Hooks.h - Scheduled actions of a training run ------------*- C++ -*-===//
//
// Each line of a hook file contains a schedule, an optional condition and an
// action (HookLine.h, Schedule.h, Criterion.h, HookAction.h):
//
//   # run.hooks
//   rate: every 1 iteration do set base_lr from rates.txt
//   mean: every epoch do accumulate train.loss
//   done: at test if test.accuracy >= 0.991 for 3 do stop
//   best: at test do save_best test.accuracy needs mean priority 2
//
// A line "epoch 500 iterations" defines the length of an epoch if the data do
// not.
//
// Hooks that are due at the same time run one after the other: dependencies
// first (by "needs", or because a hook names the value hook.NAME), then by
// descending priority, then in the order in which they were added. Whether a
// hook is due depends only on its schedule.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/hooks/BackgroundHooks.h"
#include "runtime/train/hooks/Criterion.h"
#include "runtime/train/hooks/HookAction.h"

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace brew::runtime {

/// The hooks of a training run.
class Hooks {
public:
  /// The trainer and its session must outlive this object.
  Hooks(TrainerAccess &trainer, int testNets, std::vector<std::string> folders);
  ~Hooks();
  Hooks(const Hooks &) = delete;
  Hooks &operator=(const Hooks &) = delete;

  /// Adds all hooks of a file, or no hook on failure. They take effect from the
  /// next trigger on; only fields that `set` would have changed by now are set
  /// immediately. Throws Error: (3) if the file cannot be read, (1) with line
  /// and column if it is wrong.
  void addFile(const std::string &path);
  /// Adds the hook of a line; its action `call` calls `function`. Throws Error
  /// (2) with the column if the line is wrong, or if a hook makes the call.
  void add(const std::string &line, HookFunction function = {});
  /// Removes a hook. Throws Error (2) if there is no such hook, another hook
  /// needs it, or a hook makes the call.
  void remove(const std::string &name);
  bool empty() const { return hooks.empty(); }
  /// Adds the hook of an option (OptionHooks.h), with a schedule of atEach().
  /// It runs before all hooks of lines, is not among them, and has no name.
  void addOption(Schedule schedule, std::optional<Criterion> criterion,
                 std::unique_ptr<HookAction> action);
  /// Returns whether a hook may request a stop. Hooks of lines may.
  bool mayStop() const;

  /// Makes criteria `external NAME` hold at their next evaluation. Callable
  /// from any thread.
  void raiseFlag(const std::string &name) { flags.raise(name); }

  /// Returns the last value of a metric, or nullopt before the first
  /// measurement. Throws Error (2) if there is no such metric.
  std::optional<double> value(const std::string &metric) const;

  /// Call this when training starts or resumes after `iteration` iterations.
  void startAt(int iteration);
  /// Runs the hooks that are due at a trigger, those of options first. Throws
  /// the exceptions of actions that affect training, and of callbacks on this
  /// thread; any other hook that fails is disabled with a warning.
  /// `net`: the test net of a trigger of one net.
  HookRequests runDue(HookTrigger trigger, int iteration, int net = -1);
  /// Call this before each iteration, the next one after `iteration`: copies
  /// the weights whose update a hook may measure after it.
  void beforeIteration(int iteration);
  /// Runs only the hooks of options.
  HookRequests runOptions(HookTrigger trigger, int iteration, int net = -1);
  /// Waits for background hooks.
  void finish();

  /// Returns the metrics whose best values hooks track.
  std::vector<BestMetric *> bestMetrics() const;

private:
  struct Hook {
    HookLine line;
    std::string name;
    std::optional<Criterion> criterion;
    std::unique_ptr<HookAction> action;
    std::vector<Hook *> dependencies; ///< hooks that run before it
    /// Parameters whose last update the hook measures.
    std::vector<TensorName> updates;
    std::shared_ptr<BackgroundHooks::HookState> state; ///< of a background hook
    bool disabled = false;

    /// Returns the metrics that the criterion and the action read.
    std::vector<MetricName> metrics() const;
    /// Sets `updates`.
    void findUpdates();
  };
  struct Entry { ///< a line to add
    std::string text;
    HookLine line;
    std::size_t number = 0; ///< of the line in its file
    HookFunction function;
  };

  std::set<std::string> valueHooks() const;
  void addAll(std::vector<Entry> entries, const std::string &path);
  std::unique_ptr<Hook> createHook(const Entry &entry, const MetricScope &scope,
                                   bool &needsEpochs);
  void linkDependencies(
      std::vector<std::unique_ptr<Hook>> &all,
      const std::vector<Entry> &entries,
      const std::function<void(const Entry &, const TextError &)> &fail);
  std::vector<Hook *>
  sortByDependencies(std::vector<std::unique_ptr<Hook>> &all) const;
  void throwIfRunning() const;
  std::uint64_t epochsAfter(int iteration) const;
  bool mayBeDueAfterNext(const Hook &hook, int iteration) const;
  void countFrom(int iteration);
  std::optional<std::uint64_t> lastDue(const Schedule &schedule,
                                       int iteration) const;
  void startAt(const std::vector<Hook *> &selected, int iteration);
  void run(Hook &hook, HookTrigger trigger, int iteration,
           HookRequests &hookRequests);
  bool criterionHolds(Hook &hook, std::string &reason);
  void disable(Hook &hook, const std::string &failure);

  TrainerAccess &trainer;
  int testNets;
  std::vector<std::string> folders;
  TensorStatistics statistics;
  MetricValues values;
  int listener;
  double seconds = 0; ///< since training began
  ExternalFlags flags;
  std::vector<std::unique_ptr<Hook>> optionHooks;
  std::vector<std::unique_ptr<Hook>> hooks; ///< in the order of addition
  std::vector<Hook *> order;
  std::size_t unnamed = 0;                  ///< number of generated names
  std::optional<std::uint64_t> epochLength; ///< iterations
  bool tracksEpochs = false;
  bool running = false;
  bool hasStarted = false;                           ///< startAt() was called
  std::array<std::uint64_t, kHookTriggers> counts{}; ///< at the last trigger
  BackgroundHooks background; ///< the last member: its destructor waits
};

} // namespace brew::runtime
