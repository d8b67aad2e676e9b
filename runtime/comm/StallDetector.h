//===- StallDetector.h - Detection of hanging ranks -------------*- C++ -*-===//
//
// A rank that has waited too long queries the state of all others. A rank that
// waits as well is not to blame; a rank that has made progress recently is only
// slow. A rank that does neither, or does not answer, hangs. The detector runs
// on the communicator's thread, which answers while the thread that trains
// computes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/comm/Plugin.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime::comm {

using Clock = std::chrono::steady_clock;

/// The state of the thread that trains.
struct Activity {
  bool isWaiting = false;  ///< for other ranks
  Clock::time_point since; ///< start of the wait, or last progress
};

/// Finds out which ranks hang.
class StallDetector {
public:
  /// `now` returns the time; tests pass a clock of their own.
  StallDetector(const BrewCommPlugin &plugin, int rank, int ranks,
                double timeoutSeconds,
                std::function<Clock::time_point()> now = Clock::now);

  /// Answers queries of other ranks, and queries them if `own` has waited too
  /// long for `awaited`. Returns why the run cannot continue, or nullopt.
  /// Throws the errors of check().
  std::optional<std::string> poll(const Activity &own,
                                  const std::string &awaited);

private:
  struct Answer {
    bool hasAnswered = false;
    bool isWaiting = false;
    double seconds = 0; ///< since the start of its wait, or its last progress
  };
  double secondsSince(Clock::time_point begin) const;
  void handleMessages(const Activity &own);
  void queryRanks();
  std::optional<std::string> diagnose(const std::string &awaited);

  const BrewCommPlugin &plugin;
  int rank, ranks;
  double timeout;
  std::function<Clock::time_point()> now;
  Clock::time_point begin = now();
  std::optional<Clock::time_point> queriedAt;
  std::vector<Answer> answers; ///< by rank
  /// Time before which this rank sends no more queries.
  Clock::time_point quietUntil;
  std::optional<std::string> verdict;
  std::optional<Clock::time_point> verdictDue; ///< when it is this rank's turn
  bool allWereWaiting = false;                 ///< at the last query
};

} // namespace brew::runtime::comm
