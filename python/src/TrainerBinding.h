//===- TrainerBinding.h - A trainer that Python holds -------------*- C++
//-*-===//
#pragma once

#include "SessionBinding.h"

#include <memory>

namespace brew::python {

/// A trainer, its session, and whether Ctrl-C has been pressed meanwhile.
class SharedTrainer {
public:
  SharedTrainer(SharedSession &session, const api::TrainerOptions &options)
      : session(session),
        trainer(std::make_unique<api::Trainer>(*session.get(), options)) {
    trainer->setActionSource([this] {
      nanobind::gil_scoped_acquire held;
      if (PyErr_CheckSignals() == 0)
        return BREW_ACTION_NONE;
      interrupted = true; // the exception is set: raised when the call ends
      PyErr_Clear();
      return BREW_ACTION_STOP;
    });
  }

  template <typename Body> auto during(Body &&body) {
    return session.during([&](api::Session &) { return body(*trainer); });
  }
  /// A request, from any thread while another one trains.
  template <typename Body> auto request(Body &&body) {
    nanobind::gil_scoped_release released;
    Forks::refuse();
    return body(*trainer);
  }
  ~SharedTrainer() {
    if (Forks::count()) {
      trainer.release(); // as for sessions
      return;
    }
    nanobind::gil_scoped_release released; // a hook may be under way
    trainer.reset();
  }

  /// A stop by Ctrl-C is Python's KeyboardInterrupt, once the iteration is
  /// done.
  void rethrow() {
    if (!interrupted)
      return;
    interrupted = false;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nanobind::python_error();
  }

  SharedSession &owner() const { return session; }

private:
  SharedSession &session;
  std::unique_ptr<api::Trainer> trainer;
  bool interrupted = false;
};

} // namespace brew::python
