//===- Trainer.cpp - C API: training --------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/api/Messages.h"
#include "runtime/api/TrainerHandle.h"

#include "runtime/train/Trainer.h"

#include <limits>

using namespace brew;
using namespace brew::api;

brew_status brew_trainer_open(brew_session *session,
                              const brew_options *options,
                              brew_trainer **trainer) {
  return api::open(trainer, [&](brew_trainer &handle) {
    if (!session)
      throw usage("there is no session");
    refuseInHook(session->get());
    runtime::TrainerOptions trainerOptions;
    trainerOptions.solver = runtime::solverOf(session->get().manifest());
    if (options)
      options->set.applyTo(trainerOptions);
    handle.session = session->session;
    handle.trainer = std::make_unique<runtime::Trainer>(
        *handle.session, std::move(trainerOptions));
  });
}

namespace {

/// Throws an Error with the status that a function of the caller returned.
void requireOk(brew_status status, const char *function) {
  if (status == BREW_OK)
    return;
  const bool isKnown = status > BREW_OK && status <= BREW_BUG;
  throw Error(isKnown ? static_cast<ExitStatus>(status) : ExitStatus::Bug,
              std::string("the caller's function ") + function + " failed");
}

/// Returns C++ functions that call the caller's, with its outputs as copies.
runtime::CallerNets functionsOf(const brew_caller_nets &nets) {
  if (!nets.compute_gradients || !nets.forward || !nets.outputs ||
      !nets.prepare_update || !nets.test || !nets.weights || !nets.load_weights)
    throw usage("a function of the caller's nets is NULL");
  runtime::CallerNets result;
  result.computeGradients = [nets] {
    double loss = 0;
    requireOk(nets.compute_gradients(nets.user, &loss), "compute_gradients");
    return loss;
  };
  result.forward = [nets] {
    double loss = 0;
    requireOk(nets.forward(nets.user, &loss), "forward");
    return loss;
  };
  result.outputs = [nets] {
    const brew_output_value *outputs = nullptr;
    size_t count = 0;
    requireOk(nets.outputs(nets.user, &outputs, &count), "outputs");
    return outputsOf(outputs, count);
  };
  result.prepareUpdate = [nets] {
    requireOk(nets.prepare_update(nets.user), "prepare_update");
  };
  result.test = [nets](int net) {
    const brew_output_value *outputs = nullptr;
    size_t count = 0;
    double loss = 0;
    requireOk(nets.test(nets.user, net, &loss, &outputs, &count), "test");
    return runtime::CallerNets::Batch{loss, outputsOf(outputs, count)};
  };
  result.weights = [nets](bool withDiffs) {
    brew_weights *weights = nullptr;
    requireOk(nets.weights(nets.user, withDiffs, &weights), "weights");
    return copiesOf(weights);
  };
  result.loadWeights = [nets](const std::string &path) {
    requireOk(nets.load_weights(nets.user, path.c_str()), "load_weights");
  };
  return result;
}

} // namespace

brew_status brew_trainer_open_for_nets(brew_session *session,
                                       const brew_options *options,
                                       const brew_caller_nets *cNets,
                                       brew_trainer **trainer) {
  return api::open(trainer, [&](brew_trainer &handle) {
    if (!session || !cNets)
      throw usage("the session or the nets are NULL");
    const brew_caller_nets nets = copyFromCaller(cNets);
    runtime::TrainerOptions trainerOptions;
    trainerOptions.solver = parse<caffe::SolverParameter>(
        nets.solver, nets.solver_size, "the solver");
    trainerOptions.callerNets =
        std::make_shared<const runtime::CallerNets>(functionsOf(nets));
    if (options)
      options->set.applyTo(trainerOptions);
    handle.session = session->session;
    handle.trainer = std::make_unique<runtime::Trainer>(
        session->get(), std::move(trainerOptions));
  });
}

const char *brew_trainer_message(const brew_trainer *trainer) {
  return trainer ? trainer->message.text() : Message::outOfMemory();
}

void brew_trainer_destroy(brew_trainer *trainer) { delete trainer; }

brew_status brew_trainer_solve(brew_trainer *trainer) {
  return on(trainer,
            [](runtime::Trainer &runtimeTrainer) { runtimeTrainer.solve(); });
}

brew_status brew_trainer_step(brew_trainer *trainer, int iterations) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    if (iterations < 0)
      throw usage("the number of iterations is negative");
    runtimeTrainer.step(iterations);
  });
}

int brew_trainer_stopped(const brew_trainer *trainer) {
  return trainer && trainer->trainer && trainer->trainer->stopped();
}

int brew_trainer_test_net_count(const brew_trainer *trainer) {
  return trainer && trainer->trainer ? trainer->trainer->testNets() : 0;
}

brew_status brew_trainer_test(brew_trainer *trainer, int net, int batches,
                              const brew_output_value **outputs,
                              size_t *count) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    if (batches < 0)
      throw usage("the number of batches is negative");
    trainer->lastTest = runtimeTrainer.test(net, batches);
    trainer->views.clear();
    if (trainer->lastTest)
      trainer->views = viewsOf(trainer->lastTest->outputs);
    if (outputs)
      *outputs = trainer->views.data();
    if (count)
      *count = trainer->views.size();
  });
}

brew_status brew_trainer_snapshot(brew_trainer *trainer) {
  return on(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.snapshot();
  });
}

brew_status brew_trainer_restore(brew_trainer *trainer, const char *path) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.restore(text(path, "the snapshot's path"));
  });
}

brew_status brew_trainer_continue_from(brew_trainer *trainer,
                                       const brew_trainer *other) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    if (!other)
      throw usage("the other trainer is NULL");
    runtimeTrainer.continueFrom(other->get());
  });
}

brew_status brew_trainer_forward(brew_trainer *trainer, int feed,
                                 double *loss) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    const double value = runtimeTrainer.forward(feed);
    if (loss)
      *loss = value;
  });
}

brew_status brew_trainer_backward(brew_trainer *trainer) {
  return on(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.backward();
  });
}

brew_status brew_trainer_accumulate(brew_trainer *trainer) {
  return on(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.accumulate();
  });
}

brew_status brew_trainer_update(brew_trainer *trainer) {
  return on(trainer,
            [](runtime::Trainer &runtimeTrainer) { runtimeTrainer.update(); });
}

int brew_trainer_iteration(const brew_trainer *trainer) {
  return trainer && trainer->trainer ? trainer->trainer->iteration() : 0;
}

double brew_trainer_smoothed_loss(const brew_trainer *trainer) {
  return trainer && trainer->trainer ? trainer->trainer->smoothedLoss() : 0;
}

double brew_trainer_learning_rate(const brew_trainer *trainer) {
  double rate = std::numeric_limits<double>::quiet_NaN();
  if (trainer && trainer->trainer)
    guard([&] { rate = trainer->trainer->learningRate(); },
          [](const char *) {});
  return rate;
}

//===----------------------------------------------------------------------===//
// Functions that any thread may call
//===----------------------------------------------------------------------===//

void brew_trainer_pause(brew_trainer *trainer) {
  request(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.control().pause();
  });
}

void brew_trainer_resume(brew_trainer *trainer) {
  request(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.control().resume();
  });
}

void brew_trainer_stop(brew_trainer *trainer) {
  request(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.control().stop();
  });
}

void brew_trainer_request_snapshot(brew_trainer *trainer) {
  request(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.control().snapshot();
  });
}

brew_status brew_trainer_reset(brew_trainer *trainer, char *message,
                               size_t size) {
  return guardedInto(message, size, [&] {
    if (!trainer)
      throw usage("there is no trainer");
    trainer->get().requireRestartable();
    trainer->get().control().reset();
  });
}

void brew_trainer_request_step_times(brew_trainer *trainer) {
  request(trainer, [](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.control().requestStepTimes();
  });
}

brew_status brew_trainer_set_field(brew_trainer *trainer, const char *field,
                                   const char *value, char *message,
                                   size_t size) {
  return guardedInto(message, size, [&] {
    if (!trainer)
      throw usage("there is no trainer");
    trainer->get().control().set(text(field, "the field's name"),
                                 text(value, "the field's value"));
  });
}

brew_status brew_trainer_get_field(const brew_trainer *trainer,
                                   const char *field, char *value,
                                   size_t size) {
  return guardedInto(nullptr, 0, [&] {
    if (!trainer || !value)
      throw usage("the trainer or the pointer to the value is NULL");
    const std::string fieldValue =
        trainer->get().control().get(text(field, "the field's name"));
    if (fieldValue.size() >= size)
      throw usage("there is too little room for the value");
    std::memcpy(value, fieldValue.c_str(), fieldValue.size() + 1);
  });
}

brew_status brew_trainer_set_solver(brew_trainer *trainer, const void *solver,
                                    size_t size) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    runtimeTrainer.setSolver(
        parse<caffe::SolverParameter>(solver, size, "the solver"));
  });
}

//===----------------------------------------------------------------------===//
// Signals, and the table of fields
//===----------------------------------------------------------------------===//

brew_status brew_trainer_set_action_function(brew_trainer *trainer,
                                             brew_action_function source,
                                             void *user) {
  return on(trainer, [&](runtime::Trainer &runtimeTrainer) {
    if (!source) {
      runtimeTrainer.setActionFunction({});
      return;
    }
    runtimeTrainer.setActionFunction([source, user] {
      switch (source(user)) {
      case BREW_ACTION_STOP:
        return runtime::SolverAction::Stop;
      case BREW_ACTION_SNAPSHOT:
        return runtime::SolverAction::Snapshot;
      case BREW_ACTION_NONE:
        break;
      }
      return runtime::SolverAction::None;
    });
  });
}

// The enums of the API match log::Severity.
static_assert(int(log::Severity::Info) == BREW_LOG_INFO);
static_assert(int(log::Severity::Warning) == BREW_LOG_WARNING);
static_assert(int(log::Severity::Error) == BREW_LOG_ERROR);
static_assert(int(log::Severity::Fatal) == BREW_LOG_FATAL);
