//===- SignalActions.cpp - Signals as solver requests ---------------------===//

#include "SignalActions.h"

#include <csignal>
#include <iterator>

namespace brew::run {
namespace {

volatile std::sig_atomic_t gotInterrupt = 0;
volatile std::sig_atomic_t gotHangUp = 0;

void recordSignal(int signal) {
  // The launcher of ranks forwards SIGINT as SIGUSR1, SIGHUP as SIGUSR2
  // (RankLauncher.cpp).
  if (signal == SIGINT || signal == SIGUSR1)
    gotInterrupt = 1;
  else
    gotHangUp = 1;
}

} // namespace

struct SignalActions::Saved {
  struct sigaction interrupt;
  struct sigaction hangUp;
  struct sigaction userSignals[2];
};

brew_solver_action parseAction(const std::string &text,
                               const std::string &flag) {
  if (text == "stop")
    return BREW_ACTION_STOP;
  if (text == "snapshot")
    return BREW_ACTION_SNAPSHOT;
  if (text == "none")
    return BREW_ACTION_NONE;
  throw usage(flag + ": '" + text + "' is not stop, snapshot or none");
}

SignalActions::SignalActions(brew_solver_action onInterrupt,
                             brew_solver_action onHangUp,
                             bool isOneOfSeveralRanks)
    : saved(new Saved), isRank(isOneOfSeveralRanks),
      interruptAction(onInterrupt), hangUpAction(onHangUp) {
  gotInterrupt = gotHangUp = 0;
  struct sigaction action = {};
  action.sa_handler = recordSignal;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &saved->interrupt);
  sigaction(SIGHUP, &action, &saved->hangUp);
  if (isRank) {
    sigaction(SIGUSR1, &action, &saved->userSignals[0]);
    sigaction(SIGUSR2, &action, &saved->userSignals[1]);
  }
}

SignalActions::~SignalActions() {
  sigaction(SIGINT, &saved->interrupt, nullptr);
  sigaction(SIGHUP, &saved->hangUp, nullptr);
  if (isRank) {
    sigaction(SIGUSR1, &saved->userSignals[0], nullptr);
    sigaction(SIGUSR2, &saved->userSignals[1], nullptr);
  }
  delete saved;
}

brew_solver_action SignalActions::takeRequest() {
  if (gotInterrupt) {
    gotInterrupt = 0;
    return interruptAction;
  }
  if (gotHangUp) {
    gotHangUp = 0;
    return hangUpAction;
  }
  return BREW_ACTION_NONE;
}

static constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

struct StopSignals::Saved {
  struct sigaction actions[std::size(kStopSignals)];
};

StopSignals::StopSignals() : saved(new Saved) {
  gotInterrupt = gotHangUp = 0;
  struct sigaction action = {};
  action.sa_handler = recordSignal;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kStopSignals); ++i)
    sigaction(kStopSignals[i], &action, &saved->actions[i]);
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kStopSignals); ++i)
    sigaction(kStopSignals[i], &saved->actions[i], nullptr);
  delete saved;
}

void StopSignals::check() const {
  if (gotInterrupt || gotHangUp)
    throw Interrupted{};
}

} // namespace brew::run
