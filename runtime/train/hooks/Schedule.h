//===- Schedule.h - Schedules of hooks --------------------------*- C++ -*-===//
//
//   schedule = "every" [N] trigger [K "times"]  after each N, at most K times
//            | "after" N trigger                once
//            | "at" trigger                     each time
//   trigger  = iteration | epoch | test | start | stop | pause | resume
//            | reset
//
// Triggers may have a plural s. Iterations and epochs are counted from the
// beginning of training, so that a resumed run continues the same schedule; the
// others are counted in the run.
//
// Hooks of options (OptionHooks.h) run at each of several triggers instead,
// some of which lines cannot name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

enum class HookTrigger {
  Iteration,
  Epoch,
  Test,
  Start,
  Stop,
  Pause,
  Resume,
  Reset, ///< training restarts from its beginning
  // Not for lines:
  Solve,     ///< solve() begins
  NetTest,   ///< the solver has tested one net
  CallerTest ///< the caller has tested one net
};
/// The number of triggers that lines can name, which come first.
inline constexpr std::size_t kHookTriggers = 8;
inline bool isForLines(HookTrigger trigger) {
  return static_cast<std::size_t>(trigger) < kHookTriggers;
}

/// Returns the name of a trigger: "iteration".
const char *nameOf(HookTrigger trigger);

/// A word of a hook's line.
struct HookWord {
  std::string text;
  std::size_t offset = 0; ///< bytes before it
  bool quoted = false;
};

/// The times at which a hook runs.
class Schedule {
public:
  /// Parses the words of a schedule from `at` on and advances `at`. Throws
  /// TextError; its position is `end` if words are missing.
  static Schedule parse(const std::vector<HookWord> &words, std::size_t &at,
                        std::size_t end);

  /// Creates a schedule that is due at each of `triggers`, or only at those of
  /// test net `net`, if they are of one net.
  static Schedule atEach(std::vector<HookTrigger> triggers, int net = -1);
  /// Returns whether a schedule of atEach() is due. `net`: of the trigger; -1:
  /// none.
  bool isDueAt(HookTrigger trigger, int net) const;

  /// Returns whether the schedule is not of atEach().
  bool isForLines() const { return eachOf.empty(); }
  HookTrigger trigger() const { return unit; }
  /// Returns whether the schedule is "after 0": it is for settings that apply
  /// from the beginning, and is never due.
  bool isFromBeginning() const { return interval == 0; }
  /// Returns whether it is due once in a training ("after N").
  bool isOnce() const { return once; }
  /// Returns whether the hook is due when the count of its trigger changes from
  /// `before` to `now`.
  bool isDue(std::uint64_t before, std::uint64_t now) const;
  /// Returns the last count up to `now` at which the hook was due, or nullopt.
  std::optional<std::uint64_t> lastDue(std::uint64_t now) const;

private:
  bool once = false;
  std::uint64_t interval = 1;
  std::optional<std::uint64_t> times;
  HookTrigger unit = HookTrigger::Iteration;
  std::vector<HookTrigger> eachOf; ///< of atEach()
  int testNet = -1;                ///< of atEach(); -1: any
};

} // namespace brew::runtime
