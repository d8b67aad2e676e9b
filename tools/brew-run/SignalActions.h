//===- SignalActions.h - Ctrl-C and hang-up as solver requests --*- C++ -*-===//
#pragma once

#include "Session.h"

#include <string>

namespace brew::run {

/// "stop", "snapshot" or "none"; throws Error (2) otherwise. `flag` is named in
/// the error.
brew_solver_action parseAction(const std::string &text, const std::string &flag);

/// While alive, SIGINT and SIGHUP only set a flag that takeRequest() reads.
/// One instance at a time; the previous handlers come back at its end.
class SignalActions {
public:
  /// On a rank of several SIGUSR1 and SIGUSR2 are the same as SIGINT and SIGHUP.
  SignalActions(brew_solver_action onInterrupt, brew_solver_action onHangUp,
                bool isOneOfSeveralRanks = false);
  ~SignalActions();
  SignalActions(const SignalActions &) = delete;
  SignalActions &operator=(const SignalActions &) = delete;

  /// A request not yet taken, SIGINT's before SIGHUP's; NONE if there is none.
  brew_solver_action takeRequest();

private:
  struct Saved;
  Saved *saved;
  bool isRank;
  brew_solver_action interruptAction;
  brew_solver_action hangUpAction;
};

/// What check() throws: destructors take back what is half written.
struct Interrupted {};
/// The exit status of a program that was interrupted, as shells have it.
inline constexpr int kInterruptedStatus = 130;

/// While alive, SIGINT, SIGTERM and SIGHUP only set a flag, for commands that
/// write files at their end. One instance at a time, not beside SignalActions.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  /// Throws Interrupted if a signal came.
  void check() const;

private:
  struct Saved;
  Saved *saved;
};

} // namespace brew::run
