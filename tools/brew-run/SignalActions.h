//===- SignalActions.h - Signals as solver requests -------------*- C++ -*-===//
#pragma once

#include "Session.h"

#include <csignal>
#include <string>

namespace brew::run {

/// Parses "stop", "snapshot" or "none". Throws Error (2), which names `flag`,
/// for other texts.
brew_solver_action parseAction(const std::string &text,
                               const std::string &flag);

/// Blocks SIGUSR1 and SIGUSR2, which the launcher may send to this rank, until
/// SignalActions handles them. Call this at the start of a rank.
void blockRankSignals();

/// The exit status after the end by a signal, as in shells.
inline constexpr int statusOfSignal(int signal) { return 128 + signal; }

/// During its lifetime, SIGINT, SIGHUP and SIGTERM only set a flag that
/// takeRequest() reads. Only one instance may exist. The destructor restores
/// the previous handlers.
class SignalActions {
public:
  /// SIGTERM stops. On one of several ranks, SIGUSR1 stops and SIGUSR2 takes a
  /// snapshot; the launcher sends them. After its lifetime they are ignored.
  SignalActions(brew_solver_action onInterrupt, brew_solver_action onHangUp,
                bool isOneOfSeveralRanks = false);
  ~SignalActions();
  SignalActions(const SignalActions &) = delete;
  SignalActions &operator=(const SignalActions &) = delete;

  /// Returns and clears a pending request, stops before snapshots; NONE if
  /// there is no request.
  brew_solver_action takeRequest();
  /// Returns whether SIGTERM has arrived.
  bool wasTerminated() const;

private:
  struct Saved;
  Saved *saved;
  bool isRank;
};

/// Thrown by StopSignals::check(), so that destructors remove incomplete files.
struct Interrupted {
  int status; ///< exit status
};

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
