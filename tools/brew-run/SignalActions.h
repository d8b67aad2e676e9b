//===- SignalActions.h - Ctrl-C and hang-up as solver requests --*- C++ -*-===//
#pragma once

#include "Session.h"

#include <string>

namespace brew::run {

/// "stop", "snapshot" or "none"; throws Error (2) otherwise. `flag` is named in
/// the error.
brew_action parseAction(const std::string &text, const std::string &flag);

/// While alive, SIGINT and SIGHUP only set a flag that takeRequest() reads.
/// One instance at a time; the previous handlers come back at its end.
class SignalActions {
public:
  SignalActions(brew_action onInterrupt, brew_action onHangUp);
  ~SignalActions();
  SignalActions(const SignalActions &) = delete;
  SignalActions &operator=(const SignalActions &) = delete;

  /// A request not yet taken, SIGINT's before SIGHUP's; NONE if there is none.
  brew_action takeRequest();

private:
  struct Saved;
  Saved *saved;
  brew_action interruptAction;
  brew_action hangUpAction;
};

} // namespace brew::run
