//===- TrainerBinding.h - Trainers in Python --------------------*- C++ -*-===//
#pragma once

#include "PythonNets.h"
#include "SessionBinding.h"

#include <memory>
#include <string_view>
#include <utility>

namespace brew::python {

/// A trainer and its session. Exceptions of signal handlers, such as
/// KeyboardInterrupt for Ctrl-C, propagate after the current iteration, or from
/// within a function of the caller's nets.
class SharedTrainer {
public:
  SharedTrainer(SharedSession &session, const api::Options &options)
      : session(session),
        trainer(std::make_unique<api::Trainer>(*session.get(), options)) {
    trainer->setActionFunction([] {
      const nanobind::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0)
        throw nanobind::python_error();
      return BREW_ACTION_NONE;
    });
  }

  /// A trainer of nets that Python runs. `solver`: an encoded SolverParameter.
  SharedTrainer(SharedSession &session, std::shared_ptr<PythonNets> nets,
                std::string_view solver)
      : session(session),
        trainer(std::make_unique<api::Trainer>(*session.get(), nets, solver)) {
    trainer->setActionFunction(
        [nets = std::move(nets)] { return nets->nextAction(); });
  }

  template <typename Body> auto runExclusive(Body &&body) {
    return session.runExclusive([&](api::Session &) {
      const TrainerRun run(*trainer);
      return body(*trainer);
    });
  }
  /// Takes over the state of another trainer, which no thread may use
  /// meanwhile.
  void continueFrom(const SharedTrainer &other) {
    runExclusive([&](api::Trainer &own) { own.continueFrom(*other.trainer); });
  }
  /// Runs a request; thread-safe during training.
  template <typename Body> auto request(Body &&body) {
    GilRelease released;
    session.refuseInForkedChild();
    return body(*trainer);
  }
  ~SharedTrainer() {
    if (session.isOfParent()) {
      trainer.release();
      return;
    }
    GilRelease released; // a hook may be running
    trainer.reset();
  }

  SharedSession &owner() const { return session; }

private:
  SharedSession &session;
  std::unique_ptr<api::Trainer> trainer;
};

} // namespace brew::python
