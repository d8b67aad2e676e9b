//===- training.hpp - Caffe's solver over a session -------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/hooks.h>
#include <brew/session.hpp>
#include <brew/training.h>
#include <brew/weights.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brew::api {

/// One call of a hook (hooks.h); valid during the call.
struct HookCall {
  std::string name, trigger, reason;
  int iteration;
  double seconds;
  bool background;
};

/// Nets that the caller of a trainer runs (brew_caller_nets). Exceptions end
/// the trainer's call and propagate out of it.
class CallerNets {
public:
  virtual ~CallerNets() = default;

  struct Batch {
    double loss;
    std::vector<OutputValue> outputs;
  };
  virtual double computeGradients() = 0;
  virtual double forward() = 0;
  virtual std::vector<OutputValue> outputs() = 0;
  virtual void prepareUpdate() = 0;
  virtual Batch test(int net) = 0;
  /// Returns weights that stay valid until the next call of a function.
  virtual Weights &weights(bool diffs) = 0;
  virtual void loadWeights(const std::string &path) = 0;
};

class Trainer {
public:
  explicit Trainer(Session &session, const Options &options = {})
      : state(session.state) {
    brew_trainer *opened = nullptr;
    const brew_status status =
        brew_trainer_open(session.get(), options.get(), &opened);
    trainer.reset(opened);
    check(status);
    setActionFunction({});
  }

  /// Opens a trainer of the caller's nets. `solver`: an encoded
  /// SolverParameter.
  Trainer(Session &session, std::shared_ptr<CallerNets> callerNets,
          std::string_view solver, const Options &options = {})
      : state(session.state), nets(std::make_unique<NetFunctions>()) {
    nets->nets = std::move(callerNets);
    nets->state = state.get();
    auto functions = makeStruct<brew_caller_nets>();
    functions.user = nets.get();
    functions.solver = solver.data();
    functions.solver_size = solver.size();
    functions.compute_gradients = [](void *user, double *loss) {
      return NetFunctions::call(
          user, [&](CallerNets &own) { *loss = own.computeGradients(); });
    };
    functions.forward = [](void *user, double *loss) {
      return NetFunctions::call(
          user, [&](CallerNets &own) { *loss = own.forward(); });
    };
    functions.outputs = [](void *user, const brew_output_value **outputs,
                           std::size_t *count) {
      return NetFunctions::call(user, [&](CallerNets &own) {
        NetFunctions::of(user).show(own.outputs(), outputs, count);
      });
    };
    functions.prepare_update = [](void *user) {
      return NetFunctions::call(user,
                                [](CallerNets &own) { own.prepareUpdate(); });
    };
    functions.test = [](void *user, int net, double *loss,
                        const brew_output_value **outputs, std::size_t *count) {
      return NetFunctions::call(user, [&](CallerNets &own) {
        CallerNets::Batch batch = own.test(net);
        *loss = batch.loss;
        NetFunctions::of(user).show(std::move(batch.outputs), outputs, count);
      });
    };
    functions.weights = [](void *user, int diffs, brew_weights **weights) {
      return NetFunctions::call(user, [&](CallerNets &own) {
        *weights = own.weights(diffs != 0).get();
      });
    };
    functions.load_weights = [](void *user, const char *path) {
      return NetFunctions::call(
          user, [&](CallerNets &own) { own.loadWeights(path); });
    };
    brew_trainer *opened = nullptr;
    const brew_status status = brew_trainer_open_for_nets(
        session.get(), options.get(), &functions, &opened);
    trainer.reset(opened);
    check(status);
    setActionFunction({});
  }

  brew_trainer *get() const { return trainer.get(); }

  void solve() { check(brew_trainer_solve(get())); }
  void step(int iterations) { check(brew_trainer_step(get(), iterations)); }
  bool stopped() const { return brew_trainer_stopped(get()); }
  int testNets() const { return brew_trainer_test_net_count(get()); }
  std::vector<OutputValue> test(int net, int batches = 0) {
    const brew_output_value *values = nullptr;
    std::size_t count = 0;
    check(brew_trainer_test(get(), net, batches, &values, &count));
    return detail::copies(values, count);
  }
  void snapshot() { check(brew_trainer_snapshot(get())); }
  void restore(const std::string &path) {
    check(brew_trainer_restore(get(), path.c_str()));
  }

  /// Adds the hook described by a line. Its action `call` calls `function`,
  /// whose exception ends the training call; in the background it disables the
  /// hook.
  void addHook(const std::string &line,
               std::function<void(const HookCall &)> function = {}) {
    auto next = std::make_unique<HookFunction>(
        HookFunction{std::move(function), state.get()});
    check(brew_trainer_add_hook(
        get(), line.c_str(), next->function ? callHook : nullptr, next.get()));
    hooks.push_back(std::move(next));
  }
  void addHooks(const std::string &file) {
    check(brew_trainer_add_hooks(get(), file.c_str()));
  }
  void removeHook(const std::string &name) {
    check(brew_trainer_remove_hook(get(), name.c_str()));
  }
  /// NaN before the first measurement.
  double metric(const std::string &name) const {
    double value = 0;
    check(brew_trainer_metric(get(), name.c_str(), &value));
    return value;
  }

  double forward(bool feed = true) {
    double loss = 0;
    check(brew_trainer_forward(get(), feed, &loss));
    return loss;
  }
  void backward() { check(brew_trainer_backward(get())); }
  void accumulate() { check(brew_trainer_accumulate(get())); }
  void update() { check(brew_trainer_update(get())); }

  void continueFrom(const Trainer &other) {
    check(brew_trainer_continue_from(get(), other.get()));
  }
  /// `solver`: an encoded SolverParameter.
  void setSolver(std::string_view solver) {
    check(brew_trainer_set_solver(get(), solver.data(), solver.size()));
  }

  int iteration() const { return brew_trainer_iteration(get()); }
  double smoothedLoss() const { return brew_trainer_smoothed_loss(get()); }
  double learningRate() const { return brew_trainer_learning_rate(get()); }

  // Callable from any thread.

  void pause() { brew_trainer_pause(get()); }
  void resume() { brew_trainer_resume(get()); }
  void stop() { brew_trainer_stop(get()); }
  void requestSnapshot() { brew_trainer_request_snapshot(get()); }
  void reset() {
    char message[1024];
    const brew_status status =
        brew_trainer_reset(get(), message, sizeof message);
    detail::check(status, message);
  }
  void raiseFlag(const std::string &name) {
    brew_trainer_raise_flag(get(), name.c_str());
  }
  void requestStepTimes() { brew_trainer_request_step_times(get()); }
  void setField(const std::string &field, const std::string &value) {
    char message[1024];
    const brew_status status = brew_trainer_set_field(
        get(), field.c_str(), value.c_str(), message, sizeof message);
    detail::check(status, message);
  }
  std::string field(const std::string &name) const {
    char value[4096];
    detail::check(
        brew_trainer_get_field(get(), name.c_str(), value, sizeof value),
        "the solver has no such field");
    return value;
  }

  /// Sets the function called between iterations on the training thread, for
  /// signals; empty: none. Its exception, like one of a listener, ends the call
  /// as a stop does.
  void setActionFunction(std::function<brew_solver_action()> source) {
    auto next = std::make_unique<ActionSource>(
        ActionSource{std::move(source), state.get()});
    check(brew_trainer_set_action_function(get(), queryAction, next.get()));
    action = std::move(next);
  }

private:
  struct ActionSource {
    std::function<brew_solver_action()> query;
    Session::State *state;
  };
  static brew_solver_action queryAction(void *user) {
    ActionSource &it = *static_cast<ActionSource *>(user);
    if (it.state->thrown)
      return BREW_ACTION_STOP;
    if (!it.query)
      return BREW_ACTION_NONE;
    brew_solver_action action = BREW_ACTION_STOP;
    it.state->thrown.capture([&] { action = it.query(); });
    return action;
  }
  /// The caller's nets, and the outputs that the C functions have returned.
  struct NetFunctions {
    std::shared_ptr<CallerNets> nets;
    Session::State *state;
    std::vector<OutputValue> shown;
    std::vector<brew_output_value> views;

    static NetFunctions &of(void *user) {
      return *static_cast<NetFunctions *>(user);
    }
    template <typename Body> static brew_status call(void *user, Body &&body) {
      NetFunctions &it = of(user);
      return it.state->thrown.capture([&] { body(*it.nets); }) ? BREW_OK
                                                               : BREW_BAD_INPUT;
    }
    void show(std::vector<OutputValue> outputs, const brew_output_value **to,
              std::size_t *count) {
      shown = std::move(outputs);
      views.clear();
      for (const OutputValue &output : shown)
        views.push_back({output.blob.c_str(), output.value, output.lossWeight});
      *to = views.data();
      *count = views.size();
    }
  };
  struct HookFunction {
    std::function<void(const HookCall &)> function;
    Session::State *state;
  };
  static brew_status callHook(const brew_hook_call *call, void *user) {
    HookFunction &it = *static_cast<HookFunction *>(user);
    auto run = [&] {
      it.function({call->name, call->trigger, call->reason, call->iteration,
                   call->seconds, call->background != 0});
    };
    // Exceptions of background threads must not reach the training thread.
    detail::CallbackError own;
    detail::CallbackError &thrown = call->background ? own : it.state->thrown;
    return thrown.capture(run) ? BREW_OK : BREW_BAD_INPUT;
  }
  void check(brew_status status) const {
    state->thrown.rethrow();
    detail::check(status, brew_trainer_message(get()));
  }

  std::shared_ptr<Session::State> state;
  std::unique_ptr<ActionSource> action;             ///< outlives `trainer`
  std::vector<std::unique_ptr<HookFunction>> hooks; ///< likewise
  std::unique_ptr<NetFunctions> nets;               ///< likewise
  detail::UniqueHandle<brew_trainer, brew_trainer_destroy> trainer;
};

} // namespace brew::api
