//===- Schedule.cpp - Schedules of hooks ----------------------------------===//

#include "runtime/train/hooks/Schedule.h"

#include "runtime/train/metrics/MetricName.h"
#include "support/NumberText.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace brew::runtime {
namespace {

constexpr const char *kTriggerNames[kHookTriggers] = {
    "iteration", "epoch", "test", "start", "stop", "pause", "resume", "reset"};

/// Parses a number of at least `minimum` if the word at `at` starts with a
/// digit, and advances `at`. Otherwise returns nullopt.
std::optional<std::uint64_t> parseNumber(const std::vector<HookWord> &words,
                                         std::size_t &at, int minimum = 1) {
  if (at >= words.size() || words[at].quoted || words[at].text.empty() ||
      !std::isdigit(static_cast<unsigned char>(words[at].text[0])))
    return {};
  const std::optional<int> number = parseInteger(words[at].text);
  if (!number || *number < minimum)
    throw TextError{words[at].offset,
                    "expected a number from " + std::to_string(minimum) +
                        " to 2147483647, found '" + words[at].text + "'"};
  ++at;
  return static_cast<std::uint64_t>(*number);
}

HookTrigger parseTrigger(const std::vector<HookWord> &words, std::size_t &at,
                         std::size_t end) {
  constexpr const char *kExpected =
      "iterations, epochs, tests, start, stop, pause, resume or reset";
  if (at >= words.size())
    throw TextError{end, std::string("expected ") + kExpected};
  std::string word = words[at].text;
  if (word.size() > 1 && word.back() == 's')
    word.pop_back();
  const auto found = std::find_if(
      std::begin(kTriggerNames), std::end(kTriggerNames),
      [&](const char *name) { return !words[at].quoted && name == word; });
  if (found == std::end(kTriggerNames))
    throw TextError{words[at].offset,
                    std::string("expected ") + kExpected + ", found '" +
                        words[at].text + "'" +
                        didYouMean(word, std::vector<std::string>(
                                             std::begin(kTriggerNames),
                                             std::end(kTriggerNames)))};
  ++at;
  return static_cast<HookTrigger>(found - std::begin(kTriggerNames));
}

} // namespace

const char *nameOf(HookTrigger trigger) {
  return kTriggerNames[static_cast<std::size_t>(trigger)];
}

Schedule Schedule::parse(const std::vector<HookWord> &words, std::size_t &at,
                         std::size_t end) {
  const std::string verb = at < words.size() ? words[at].text : "";
  const std::size_t verbOffset = at < words.size() ? words[at].offset : end;
  if (verb != "every" && verb != "after" && verb != "at")
    throw TextError{verbOffset,
                    "a hook needs a schedule: 'every 100 iterations', 'after 2 "
                    "epochs' or 'at start'" +
                        (verb.empty() ? "" : ", not '" + verb + "'")};
  ++at;
  Schedule schedule;
  schedule.once = verb == "after";
  if (verb != "at") {
    if (const auto number = parseNumber(words, at, schedule.once ? 0 : 1))
      schedule.interval = *number;
    else if (schedule.once)
      throw TextError{at < words.size() ? words[at].offset : end,
                      "expected after how many, as in 'after 500 iterations'"};
  }
  schedule.unit = parseTrigger(words, at, end);
  if (verb == "every")
    if (std::size_t next = at; const auto number = parseNumber(words, next)) {
      if (next >= words.size() ||
          (words[next].text != "times" && words[next].text != "time"))
        throw TextError{next < words.size() ? words[next].offset : end,
                        "expected 'times'"};
      schedule.times = number;
      at = next + 1;
    }
  return schedule;
}

Schedule Schedule::atEach(std::vector<HookTrigger> triggers, int net) {
  Schedule schedule;
  schedule.eachOf = std::move(triggers);
  schedule.testNet = net;
  return schedule;
}

bool Schedule::isDueAt(HookTrigger trigger, int net) const {
  return std::count(eachOf.begin(), eachOf.end(), trigger) &&
         (net < 0 || testNet < 0 || net == testNet);
}

bool Schedule::isDue(std::uint64_t before, std::uint64_t now) const {
  if (once)
    return before < interval && interval <= now;
  const std::uint64_t turn = now / interval;
  return turn > before / interval && (!times || turn <= *times);
}

std::optional<std::uint64_t> Schedule::lastDue(std::uint64_t now) const {
  if (now < interval)
    return {};
  if (once)
    return interval;
  const std::uint64_t turn = now / interval;
  return (times ? std::min(turn, *times) : turn) * interval;
}

} // namespace brew::runtime
