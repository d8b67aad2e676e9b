//===- SignalActions.h - Signals as solver requests -------------*- C++ -*-===//
#pragma once

#include "Session.h"

#include <string>

namespace brew::run {

/// Parses "stop", "snapshot" or "none". Throws Error (2), which names `flag`,
/// for other texts.
brew_solver_action parseAction(const std::string &text,
                               const std::string &flag);

/// During its lifetime, SIGINT and SIGHUP only set a flag that takeRequest()
/// reads. Only one instance may exist. The destructor restores the previous
/// handlers.
class SignalActions {
public:
  /// On one of several ranks, SIGUSR1 and SIGUSR2 act as SIGINT and SIGHUP.
  SignalActions(brew_solver_action onInterrupt, brew_solver_action onHangUp,
                bool isOneOfSeveralRanks = false);
  ~SignalActions();
  SignalActions(const SignalActions &) = delete;
  SignalActions &operator=(const SignalActions &) = delete;

  /// Returns and clears a pending request, SIGINT's before SIGHUP's; NONE if
  /// there is no request.
  brew_solver_action takeRequest();

private:
  struct Saved;
  Saved *saved;
  bool isRank;
  brew_solver_action interruptAction;
  brew_solver_action hangUpAction;
};

/// Thrown by StopSignals::check(), so that destructors remove incomplete files.
struct Interrupted {};
/// The exit status after SIGINT, as in shells.
inline constexpr int kInterruptedStatus = 130;

/// During its lifetime, SIGINT, SIGTERM and SIGHUP only set a flag, for
/// commands that write files at their end. Only one instance may exist, and no
/// SignalActions.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  /// Throws Interrupted if a signal has arrived.
  void check() const;

private:
  struct Saved;
  Saved *saved;
};

} // namespace brew::run
