//===- TeamChoice.h - Whether a program runs on its team --------*- C++ -*-===//
//
// The threads of a team wait for each other after every step. Beside other busy
// programs, one of them often has no processor, and the others wait for the
// rest of a time slice, some milliseconds: a multiple of a small net's time.
// The program may then be faster on one thread. TeamChoice finds out from the
// times of the runs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <optional>

namespace brew::runtime {

/// Chooses between the team and one thread for each run of a program whose runs
/// take equally long on an idle machine.
class TeamChoice {
public:
  bool usesTeam() const { return mode != Mode::Lone; }
  /// Records the time of a run as usesTeam() said. `waited`: the part of it in
  /// which the calling thread did not run, 0 unless measuresWaits().
  void record(double seconds, double waited = 0);
  /// Returns whether the waits of the next run are needed: reading a thread's
  /// clock takes a share of runs of microseconds, which differ enough without.
  bool measuresWaits() const;
  /// Makes usesTeam() true for good: the program cannot run on one thread.
  void requireTeam() { isTeamRequired = true, mode = Mode::Team; }

private:
  /// Trial: runs on the team, to find out whether it is fast again.
  enum class Mode { Team, Lone, Trial };

  /// A mean of runs, in which the last eight count most.
  class Mean {
  public:
    void add(double seconds);
    double value() const { return mean; }
    int count() const { return runs; }

  private:
    double mean = 0;
    int runs = 0;
  };

  void recordTeam(double seconds, double waited);
  bool isWaiting() const;
  void recordLone(double seconds);
  void recordTrial(double seconds);
  void returnToTeam();
  void begin(Mode next) {
    mode = next;
    modeSeconds = 0;
  }

  Mode mode = Mode::Team;
  bool isTeamRequired = false;
  std::optional<double> fastest; ///< of the team's runs
  Mean team, waits, lone, trial; ///< `waits`: shares of the team's runs
  double modeSeconds = 0;        ///< time in this mode
  double trialPeriod = 0;        ///< until the next trial
  double loneDelay = 0;          ///< before one thread is tried again
};

} // namespace brew::runtime
