//===- SignalActions.cpp - Signals as solver requests ---------------------===//

#include "SignalActions.h"

#include "RepeatedStop.h"

#include <cerrno>
#include <csignal>
#include <iterator>
#include <unistd.h>

namespace brew::run {
namespace {

using Flag = volatile std::sig_atomic_t;

Flag pendingSnapshot = 0, pendingStop = 0, gotTerminate = 0;
/// A signal of StopSignals; 0: none yet.
Flag stopSignal = 0;
/// The actions of SIGINT and SIGHUP.
Flag interruptAction = BREW_ACTION_STOP, hangUpAction = BREW_ACTION_SNAPSHOT;

/// Ends the process by SIGINT's default action once the handler returns.
void endAtOnce() {
  constexpr char text[] = "brew-run: ended at once by a second SIGINT\n";
  (void)!::write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

void request(int action, int signal) {
  if (action == BREW_ACTION_STOP) {
    if (isRepeatedStop(signal))
      return endAtOnce();
    pendingStop = 1;
  } else if (action == BREW_ACTION_SNAPSHOT) {
    pendingSnapshot = 1;
  }
}

void recordRequest(int signal) {
  const int savedErrno = errno;
  switch (signal) {
  case SIGINT:
    request(interruptAction, signal);
    break;
  case SIGHUP:
    request(hangUpAction, signal);
    break;
  case SIGTERM:
    gotTerminate = 1;
    request(BREW_ACTION_STOP, signal);
    break;
  case SIGUSR1:
    request(BREW_ACTION_STOP, signal);
    break;
  default:
    request(BREW_ACTION_SNAPSHOT, signal);
  }
  errno = savedErrno;
}

void recordStop(int signal) {
  const int savedErrno = errno;
  if (isRepeatedStop(signal))
    endAtOnce();
  else
    stopSignal = signal;
  errno = savedErrno;
}

struct sigaction actionOf(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  return action;
}

constexpr int kRequestSignals[] = {SIGINT, SIGHUP, SIGTERM};
constexpr int kRankSignals[] = {SIGUSR1, SIGUSR2};
constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t rankSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kRankSignals)
    sigaddset(&signals, signal);
  return signals;
}

} // namespace

struct SignalActions::Saved {
  struct sigaction actions[std::size(kRequestSignals)];
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

void blockRankSignals() {
  const sigset_t blocked = rankSignals();
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

SignalActions::SignalActions(brew_solver_action onInterrupt,
                             brew_solver_action onHangUp,
                             bool isOneOfSeveralRanks)
    : saved(new Saved), isRank(isOneOfSeveralRanks) {
  pendingSnapshot = pendingStop = gotTerminate = 0;
  forgetStops();
  interruptAction = onInterrupt;
  hangUpAction = onHangUp;
  const struct sigaction action = actionOf(recordRequest);
  for (std::size_t i = 0; i < std::size(kRequestSignals); ++i)
    sigaction(kRequestSignals[i], &action, &saved->actions[i]);
  if (!isRank)
    return;
  for (const int signal : kRankSignals)
    sigaction(signal, &action, nullptr);
  const sigset_t unblocked = rankSignals();
  pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr);
}

SignalActions::~SignalActions() {
  for (std::size_t i = 0; i < std::size(kRequestSignals); ++i)
    sigaction(kRequestSignals[i], &saved->actions[i], nullptr);
  // The launcher may still send them.
  if (isRank)
    for (const int signal : kRankSignals)
      std::signal(signal, SIG_IGN);
  delete saved;
}

brew_solver_action SignalActions::takeRequest() {
  if (pendingStop) {
    pendingStop = 0;
    return BREW_ACTION_STOP;
  }
  if (pendingSnapshot) {
    pendingSnapshot = 0;
    return BREW_ACTION_SNAPSHOT;
  }
  return BREW_ACTION_NONE;
}

bool SignalActions::wasTerminated() const { return gotTerminate; }

struct StopSignals::Saved {
  struct sigaction actions[std::size(kStopSignals)];
};

StopSignals::StopSignals() : saved(new Saved) {
  stopSignal = 0;
  forgetStops();
  const struct sigaction action = actionOf(recordStop);
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i)
    sigaction(kStopSignals[i], &action, &saved->actions[i]);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i)
    sigaction(kStopSignals[i], &saved->actions[i], nullptr);
  delete saved;
}

void StopSignals::check() const {
  if (stopSignal)
    throw Interrupted{statusOfSignal(stopSignal)};
}

} // namespace brew::run
