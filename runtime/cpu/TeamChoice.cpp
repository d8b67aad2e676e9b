//===- TeamChoice.cpp - Whether a program runs on its team ----------------===//
#include "runtime/cpu/TeamChoice.h"

#include <algorithm>

namespace brew::runtime {

/// A team waits that is slower than its fastest run by this factor, or whose
/// caller does not run for this share of the time.
static constexpr double kSlowdown = 2, kWaitingShare = 0.3;
/// Shorter runs do without the share.
static constexpr double kShortestMeasured = 1e-4;
/// Numbers of runs from which a mean counts; of long runs, two suffice.
static constexpr int kRuns = 8, kTrialRuns = 4, kLongRuns = 2;
static constexpr double kLong = 0.05; // seconds
/// Seconds on one thread before the team is tried again, but at least the time
/// of some runs. The period doubles with each failure, so that failures cost
/// little.
static constexpr double kFirstPeriod = 0.02, kLastPeriod = 1;
static constexpr int kRunsPerTrial = 16;

void TeamChoice::Mean::add(double seconds) {
  runs = std::min(runs + 1, kRuns);
  mean += (seconds - mean) / runs;
}

bool TeamChoice::measuresWaits() const {
  return mode == Mode::Team && fastest.value_or(1) > kShortestMeasured;
}

void TeamChoice::record(double seconds, double waited) {
  modeSeconds += seconds;
  switch (mode) {
  case Mode::Team:
    return recordTeam(seconds, waited);
  case Mode::Lone:
    return recordLone(seconds);
  case Mode::Trial:
    return recordTrial(seconds);
  }
}

bool TeamChoice::isWaiting() const {
  return team.count() >= (team.value() < kLong ? kRuns : kLongRuns) &&
         (team.value() > kSlowdown * *fastest || waits.value() > kWaitingShare);
}

void TeamChoice::recordTeam(double seconds, double waited) {
  fastest = std::min(fastest.value_or(seconds), seconds);
  team.add(seconds);
  waits.add(waited / seconds);
  if (isTeamRequired || !isWaiting() || modeSeconds < loneDelay)
    return;
  lone = Mean();
  trialPeriod = kFirstPeriod;
  begin(Mode::Lone);
}

void TeamChoice::recordLone(double seconds) {
  lone.add(seconds);
  if (lone.count() < (lone.value() < kLong ? kTrialRuns : kLongRuns))
    return;
  if (lone.value() > team.value()) { // the team was slow for another reason
    loneDelay = std::min(kLastPeriod, std::max(kFirstPeriod, 2 * loneDelay));
    return returnToTeam();
  }
  if (modeSeconds < std::max(trialPeriod, kRunsPerTrial * lone.value()))
    return;
  trial = Mean();
  begin(Mode::Trial);
}

void TeamChoice::recordTrial(double seconds) {
  fastest = std::min(fastest.value_or(seconds), seconds);
  trial.add(seconds);
  if (seconds > kSlowdown * lone.value()) {
    trialPeriod = std::min(kLastPeriod, 2 * trialPeriod);
    return begin(Mode::Lone);
  }
  if (trial.count() < kTrialRuns)
    return;
  if (trial.value() < lone.value()) {
    loneDelay = 0;
    return returnToTeam();
  }
  trialPeriod = std::min(kLastPeriod, 2 * trialPeriod);
  begin(Mode::Lone);
}

void TeamChoice::returnToTeam() {
  team = waits = Mean();
  begin(Mode::Team);
}

} // namespace brew::runtime
