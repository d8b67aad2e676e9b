//===- StallDetector.cpp - Detection of hanging ranks ---------------------===//

#include "runtime/comm/StallDetector.h"

#include "runtime/comm/CollectiveOperations.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace brew::runtime::comm {
namespace {

enum class Kind : std::int32_t { Query, Answer };

struct Message {
  Kind kind;
  std::int32_t isWaiting;
  double seconds;
};

Clock::duration duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(seconds));
}

/// Returns the seconds in which a live rank answers.
double grace(double timeout) { return std::min(5.0, timeout); }

/// Seconds that the first healthy rank has to report the reason before others.
constexpr double kTurnSeconds = 5;

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

} // namespace

StallDetector::StallDetector(const BrewCommPlugin &transport, int ownRank,
                             int rankCount, double timeoutSeconds,
                             std::function<Clock::time_point()> clock)
    : plugin(transport), rank(ownRank), ranks(rankCount),
      timeout(timeoutSeconds), now(std::move(clock)), quietUntil(begin) {}

double StallDetector::secondsSince(Clock::time_point begin) const {
  return std::chrono::duration<double>(now() - begin).count();
}

void StallDetector::handleMessages(const Activity &own) {
  for (;;) {
    Message message;
    int from = -1;
    check(plugin, plugin.receive(&from, &message, sizeof message));
    if (from < 0)
      return;
    if (message.kind == Kind::Answer) {
      if (queriedAt)
        answers[static_cast<std::size_t>(from)] = {true, message.isWaiting != 0,
                                                   message.seconds};
      continue;
    }
    message = {Kind::Answer, own.isWaiting, secondsSince(own.since)};
    check(plugin, plugin.send(from, &message, sizeof message));
  }
}

void StallDetector::queryRanks() {
  queriedAt = now();
  answers.assign(static_cast<std::size_t>(ranks), {});
  const Message query = {Kind::Query, 1, 0};
  for (int other = 0; other < ranks; ++other)
    if (other != rank)
      check(plugin, plugin.send(other, &query, sizeof query));
}

/// Evaluates the answers. Returns the reason to end the run, or nullopt.
std::optional<std::string> StallDetector::diagnose(const std::string &what) {
  std::string silent, hanging;
  double youngest = timeout;
  bool everyoneWaits = true;
  int firstHealthy = rank;
  auto add = [](std::string &list, int which) {
    list += (list.empty() ? "" : ", ") + std::to_string(which);
  };
  for (int other = ranks; other-- > 0;) {
    const Answer &answer = answers[static_cast<std::size_t>(other)];
    if (other == rank)
      continue;
    everyoneWaits &= answer.here && answer.isWaiting;
    if (answer.here && answer.isWaiting)
      firstHealthy = std::min(firstHealthy, other);
    else if (answer.here && answer.seconds < timeout)
      youngest = std::min(youngest, answer.seconds);
  }
  for (int other = 0; other < ranks; ++other) {
    const Answer &answer = answers[static_cast<std::size_t>(other)];
    if (other == rank)
      continue;
    if (!answer.here)
      add(silent, other);
    else if (!answer.isWaiting && answer.seconds >= timeout)
      add(hanging, other);
  }
  std::string reason;
  if (!silent.empty())
    reason = "rank " + silent + " does not answer";
  if (!hanging.empty())
    reason += (reason.empty() ? "rank " : ", and rank ") + hanging +
              " has not gone on";
  if (!reason.empty())
    reason += " for " + secondsText(timeout) +
              " (--comm-timeout), while rank " + std::to_string(rank) +
              " waits for " + what;
  else if (everyoneWaits && allWereWaiting)
    reason = "all ranks wait for " + what + " or another one for " +
             secondsText(timeout) +
             " (--comm-timeout): the transport delivers nothing";
  allWereWaiting = everyoneWaits;
  if (reason.empty()) {
    quietUntil = now() + duration(std::max(timeout - youngest, 0.1));
    return std::nullopt;
  }
  // The first healthy rank reports the reason, and its end ends all ranks. The
  // others report it later, in case that rank fails.
  verdictDue = now() + duration(rank == firstHealthy ? 0 : kTurnSeconds);
  return reason;
}

std::optional<std::string> StallDetector::poll(const Activity &own,
                                               const std::string &what) {
  handleMessages(own);
  if (!own.isWaiting) {
    queriedAt.reset();
    verdict.reset();
    allWereWaiting = false;
    return std::nullopt;
  }
  if (verdict)
    return now() >= *verdictDue ? verdict : std::nullopt;
  if (!queriedAt) {
    if (secondsSince(own.since) >= timeout && now() >= quietUntil)
      queryRanks();
    return std::nullopt;
  }
  const bool complete =
      std::count_if(answers.begin(), answers.end(), [](const Answer &answer) {
        return answer.here;
      }) == ranks - 1;
  if (complete || secondsSince(*queriedAt) >= grace(timeout)) {
    queriedAt.reset();
    verdict = diagnose(what);
  }
  return std::nullopt;
}

} // namespace brew::runtime::comm
