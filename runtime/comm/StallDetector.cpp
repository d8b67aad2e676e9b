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

/// Returns the maximum time in which a live rank answers, in seconds.
double answerSeconds(double timeout) { return std::min(5.0, timeout); }

/// Delay after which the other healthy ranks report the reason, if the first
/// healthy rank has not ended the run.
constexpr double kReportDelaySeconds = 5;

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
std::optional<std::string> StallDetector::diagnose(const std::string &awaited) {
  std::string silent, hanging;
  double secondsSinceProgress = timeout;
  bool everyoneWaits = true;
  int firstHealthy = rank;
  auto append = [](std::string &list, int number) {
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  };
  for (int other = ranks; other-- > 0;) {
    const Answer &answer = answers[static_cast<std::size_t>(other)];
    if (other == rank)
      continue;
    everyoneWaits &= answer.hasAnswered && answer.isWaiting;
    if (answer.hasAnswered && answer.isWaiting)
      firstHealthy = std::min(firstHealthy, other);
    else if (answer.hasAnswered && answer.seconds < timeout)
      secondsSinceProgress = std::min(secondsSinceProgress, answer.seconds);
  }
  for (int other = 0; other < ranks; ++other) {
    const Answer &answer = answers[static_cast<std::size_t>(other)];
    if (other == rank)
      continue;
    if (!answer.hasAnswered)
      append(silent, other);
    else if (!answer.isWaiting && answer.seconds >= timeout)
      append(hanging, other);
  }
  std::string reason;
  if (!silent.empty())
    reason = "rank " + silent + " does not answer";
  if (!hanging.empty())
    reason += (reason.empty() ? "rank " : ", and rank ") + hanging +
              " makes no progress";
  if (!reason.empty())
    reason += " for " + secondsText(timeout) +
              " (--comm-timeout), while rank " + std::to_string(rank) +
              " waits for " + awaited;
  else if (everyoneWaits && allWereWaiting)
    reason = "all ranks wait for " + awaited + " or another one for " +
             secondsText(timeout) +
             " (--comm-timeout): the transport delivers nothing";
  allWereWaiting = everyoneWaits;
  if (reason.empty()) {
    quietUntil =
        now() + duration(std::max(timeout - secondsSinceProgress, 0.1));
    return std::nullopt;
  }
  // The first healthy rank reports the reason, and its end ends all ranks. The
  // others report it later, in case that rank fails.
  verdictDue = now() + duration(rank == firstHealthy ? 0 : kReportDelaySeconds);
  return reason;
}

std::optional<std::string> StallDetector::poll(const Activity &own,
                                               const std::string &awaited) {
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
  const bool hasAllAnswers =
      std::count_if(answers.begin(), answers.end(), [](const Answer &answer) {
        return answer.hasAnswered;
      }) == ranks - 1;
  if (hasAllAnswers || secondsSince(*queriedAt) >= answerSeconds(timeout)) {
    queriedAt.reset();
    verdict = diagnose(awaited);
  }
  return std::nullopt;
}

} // namespace brew::runtime::comm
