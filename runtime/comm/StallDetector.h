//===- StallDetector.h - Which rank keeps the others waiting -------*- C++ -*-===//
//
// A rank that has waited too long asks all others what they do. One that waits
// as well is not to blame; one that has lately gone on is only slow. Who does
// neither, or does not answer, hangs. Used on the communicator's thread, which
// answers while the thread that trains computes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/comm/Plugin.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime::comm {

using Clock = std::chrono::steady_clock;

/// What the thread that trains does.
struct Activity {
  bool isWaiting = false;  ///< for other ranks
  Clock::time_point since; ///< when that began, or when it last went on
};

class StallDetector {
public:
  StallDetector(const BrewCommPlugin &plugin, int rank, int ranks,
             double timeoutSeconds);

  /// Answers other ranks, and asks them where `own` waits too long for `what`.
  /// Returns why the run cannot go on, once that is known. Throws Error (3) as
  /// check() does.
  std::optional<std::string> poll(const Activity &own, const std::string &what);

private:
  struct Answer {
    bool here = false;
    bool isWaiting = false;
    double seconds = 0; ///< since it began to wait, or last went on
  };
  void handleMessages(const Activity &own);
  void queryRanks();
  std::optional<std::string> diagnose(const std::string &what);

  const BrewCommPlugin &plugin;
  int rank, ranks;
  double timeout;
  Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> queriedAt;
  std::vector<Answer> answers; ///< by rank
  /// A time before which nobody is queriedAt again.
  Clock::time_point quietUntil;
  std::optional<std::string> verdict;
  std::optional<Clock::time_point> verdictDue; ///< when it is this rank's turn
  bool allWereWaiting = false;                       ///< when they were queriedAt last
};

} // namespace brew::runtime::comm
