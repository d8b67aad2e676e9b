//===- OptionTable.h - Options of sessions and trainers ---------*- C++ -*-===//
//
// One table defines the options. The C API lists it; brew-run's flags and the
// keywords of the Python package come from there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/SolverFields.h"
#include "runtime/train/Trainer.h"
#include "support/OptionTable.h"

#include <map>
#include <string>
#include <vector>

namespace brew::runtime {

struct RunOption : OptionRowBase<RunOption> {
  using ApplyToSession = void (*)(SessionOptions &, const std::string &);
  using ApplyToTrainer = void (*)(TrainerOptions &, const std::string &);

  const char *group = "";    ///< heading in the help
  const char *commands = ""; ///< commands of brew-run, separated by blanks
  /// The field of the solver that the option overrides, or null.
  const SolverField *field = nullptr;
  // Apply one checked value; null if the option does not concern sessions or
  // trainers.
  ApplyToSession applyToSession = nullptr;
  ApplyToTrainer applyToTrainer = nullptr;

  RunOption withGroup(const char *text) const;
  RunOption forSessions(ApplyToSession function) const;
  RunOption forTrainers(ApplyToTrainer function) const;
};

/// Returns the rows in the order of the help: options, then fields of the
/// solver.
const std::vector<RunOption> &runOptions();

/// Option values set by a caller.
class RunOptionSet {
public:
  /// Checks and stores a value. Appends the value to a list; replaces the value
  /// of other options. A null `value` sets the option to its implied value.
  /// Throws Error (Usage).
  void set(const std::string &name, const char *value);

  void applyTo(SessionOptions &options) const;
  /// Changes the fields of options.solver. Throws Error (Usage) for
  /// contradictory options.
  void applyTo(TrainerOptions &options) const;

private:
  /// Calls `apply` with each row that has a value, and the value.
  template <typename Apply> void forEach(Apply apply) const;

  std::map<std::string, std::vector<std::string>> explicitValues;
};

} // namespace brew::runtime
