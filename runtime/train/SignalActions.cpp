//===- SignalActions.cpp - Ctrl-C and hang-up as solver requests ----------===//

#include "runtime/train/SignalActions.h"

#include "formats/Error.h"

#include <csignal>

namespace brew::runtime {
namespace {

volatile std::sig_atomic_t gotInterrupt = 0;
volatile std::sig_atomic_t gotHangUp = 0;

void handle(int signal) {
  if (signal == SIGINT)
    gotInterrupt = 1;
  else
    gotHangUp = 1;
}

} // namespace

struct SignalActions::Saved {
  struct sigaction interrupt;
  struct sigaction hangUp;
};

SolverAction parseSolverAction(const std::string &text,
                               const std::string &flag) {
  if (text == "stop")
    return SolverAction::Stop;
  if (text == "snapshot")
    return SolverAction::Snapshot;
  if (text == "none")
    return SolverAction::None;
  throw Error(ExitStatus::Usage,
              flag + ": '" + text + "' is none of stop, snapshot, none");
}

SignalActions::SignalActions(SolverAction onInterrupt, SolverAction onHangUp)
    : saved(new Saved), interruptAction(onInterrupt), hangUpAction(onHangUp) {
  gotInterrupt = gotHangUp = 0;
  struct sigaction action = {};
  action.sa_handler = handle;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &saved->interrupt);
  sigaction(SIGHUP, &action, &saved->hangUp);
}

SignalActions::~SignalActions() {
  sigaction(SIGINT, &saved->interrupt, nullptr);
  sigaction(SIGHUP, &saved->hangUp, nullptr);
  delete saved;
}

SolverAction SignalActions::takeRequest() {
  if (gotInterrupt) {
    gotInterrupt = 0;
    return interruptAction;
  }
  if (gotHangUp) {
    gotHangUp = 0;
    return hangUpAction;
  }
  return SolverAction::None;
}

} // namespace brew::runtime
