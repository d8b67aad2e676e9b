//===- Hooks.h - What happens at set times of a training run ----*- C++ -*-===//
//
// Each line of a file of hooks says when, on what condition, and what
// (HookLine.h, Schedule.h, Criterion.h, HookAction.h):
//
//   # run.hooks
//   rate: every 1 iteration do set base_lr from rates.txt
//   mean: every epoch do accumulate train.loss
//   done: at test if test.accuracy >= 0.991 for 3 do stop
//   best: at test do save_best test.accuracy needs mean priority 2
//
// A line "epoch 500 iterations" says how long an epoch is where the data do not.
//
// Hooks that are due at once run one after the other: those that one needs (by
// "needs", or because it names their value hook.NAME) before it, of the others
// those of higher priority first, then in the order in which they were added.
// Whether one is due depends on nothing but its schedule.
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

class Hooks {
public:
  /// The trainer and the session outlive it.
  Hooks(TrainerAccess &trainer, int testNets, std::vector<std::string> folders);
  ~Hooks();
  Hooks(const Hooks &) = delete;
  Hooks &operator=(const Hooks &) = delete;

  /// Adds all hooks of a file or none; they count from the next moment on, but for
  /// fields that they have set by now. Throws Error: (3) if it cannot be read,
  /// (1) with line and column where it is wrong.
  void addFile(const std::string &path);
  /// Adds the hook of a line, of which the action may be `call`: `function` is
  /// called then. Throws Error (2) with the column where it is wrong, or when a
  /// hook calls it.
  void add(const std::string &line, HookFunction function = {});
  /// Throws Error (2) if there is no such hook, another one needs it, or a hook
  /// calls it.
  void remove(const std::string &name);
  bool empty() const { return hooks.empty(); }

  /// Criteria `external NAME` hold when they are looked at next. Any thread.
  void raiseFlag(const std::string &name) { flags.raise(name); }

  /// The last value of a metric. Throws Error (2) if there is none of this name.
  std::optional<double> value(const std::string &metric) const;

  /// Training goes on after so many iterations.
  void startAt(int iteration);
  /// A moment: runs what is due. Throws what actions throw that act on
  /// training, and callbacks on this thread; another that fails is warned of,
  /// and does not run again.
  HookRequests runDue(HookTrigger trigger, int iteration);
  /// Waits for what runs in the background.
  void finish();

  /// What is sought the best of.
  std::vector<BestMetric *> bests() const;

private:
  struct Hook {
    HookLine line;
    std::string name;
    std::optional<Criterion> criterion;
    std::unique_ptr<HookAction> action;
    std::vector<Hook *> dependencies; ///< those that come before it
    std::shared_ptr<BackgroundHooks::HookState> state; ///< of one in the background
    bool disabled = false;
  };
  struct Entry { ///< a line that is to be added
    std::string text;
    HookLine line;
    std::size_t number = 0; ///< of a file
    HookFunction function;
  };

  std::set<std::string> valueHooks() const;
  void addAll(std::vector<Entry> entries, const std::string &path);
  std::unique_ptr<Hook> make(const Entry &entry, const MetricScope &scope,
                             bool &asksForEpochs);
  void link(std::vector<std::unique_ptr<Hook>> &all,
            const std::vector<Entry> &entries,
            const std::function<void(const Entry &, const TextError &)> &fail);
  std::vector<Hook *> ordered(std::vector<std::unique_ptr<Hook>> &all) const;
  void refuseWhileRunning() const;
  std::uint64_t epochsAfter(int iteration) const;
  void countFrom(int iteration);
  void startAt(const std::vector<Hook *> &those, int iteration);
  void run(Hook &hook, HookTrigger trigger, int iteration, HookRequests &hookRequests);
  bool criterionHolds(Hook &hook, std::string &reason);
  void disable(Hook &hook, const std::string &why);

  TrainerAccess &trainer;
  int testNets;
  std::vector<std::string> folders;
  MetricValues values;
  int listener;
  double seconds = 0; ///< since training began
  ExternalFlags flags;
  std::vector<std::unique_ptr<Hook>> hooks; ///< as they were added
  std::vector<Hook *> order;
  std::size_t unnamed = 0; ///< hooks that were given a name
  std::optional<std::uint64_t> epochLength; ///< iterations
  bool tracksEpochs = false;
  bool running = false;
  bool begun = false; ///< startAt() was called
  std::array<std::uint64_t, kHookTriggers> counts{}; ///< at the last moment
  BackgroundHooks background; ///< the last: it waits
};

} // namespace brew::runtime
