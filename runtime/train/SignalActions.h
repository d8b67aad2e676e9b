//===- SignalActions.h - Ctrl-C and hang-up as solver requests --*- C++ -*-===//
#pragma once

#include "runtime/train/Control.h"

#include <string>

namespace brew::runtime {

/// "stop", "snapshot" or "none"; throws Error (2) otherwise. `flag` is named in
/// the error.
SolverAction parseSolverAction(const std::string &text,
                               const std::string &flag);

/// While alive, SIGINT and SIGHUP only set a flag that takeRequest() reads.
/// One instance at a time; the previous handlers come back at its end.
class SignalActions {
public:
  SignalActions(SolverAction onInterrupt, SolverAction onHangUp);
  ~SignalActions();
  SignalActions(const SignalActions &) = delete;
  SignalActions &operator=(const SignalActions &) = delete;

  /// The oldest request not yet taken; None if there is none.
  SolverAction takeRequest();

private:
  struct Saved;
  Saved *saved;
  SolverAction interruptAction;
  SolverAction hangUpAction;
};

} // namespace brew::runtime
