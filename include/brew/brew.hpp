//===- brew.hpp - Brew's runtime as a library, in C++ -----------*- C++ -*-===//
//
//   brew::api::Plan plan("net.plan");
//   brew::api::Session session(plan);
//   session.initialise();
//   const int program = plan.program("deploy");
//   session.setInput(program, "data", image);
//   session.feedAndRun(program);
//   std::vector<float> probabilities = session.read(session.blob(program,
//   "prob"));
//
// Header-only, over brew.h, which says what everything means, who owns it and
// which thread may call it. Failures are thrown as brew::api::Error. Handles
// can be moved, not copied. What a listener or another callback throws comes
// out of the call that called it, when that returns.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.hpp>
#include <brew/brew.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::api {

/// The library was made for another header.
inline void checkAbiVersion() {
  if (brew_abi_version() != BREW_ABI_VERSION)
    throw Error(BREW_MACHINE_LACKS, "libbrew_runtime has ABI version " +
                                        std::to_string(brew_abi_version()) +
                                        ", this program needs " +
                                        std::to_string(BREW_ABI_VERSION));
}

namespace detail {

template <typename Handle, void (*destroy)(Handle *)> struct Destroy {
  void operator()(Handle *handle) const { destroy(handle); }
};
template <typename Handle, void (*destroy)(Handle *)>
using Owner = std::unique_ptr<Handle, Destroy<Handle, destroy>>;

inline void check(brew_status status, const char *message) {
  if (status != BREW_OK)
    throw Error(status, message);
}

inline std::vector<const char *> views(const std::vector<std::string> &texts) {
  std::vector<const char *> result;
  for (const std::string &text : texts)
    result.push_back(text.c_str());
  return result;
}

template <typename Value> constexpr brew_dtype dtypeOf();
template <> constexpr brew_dtype dtypeOf<float>() { return BREW_F32; }
template <> constexpr brew_dtype dtypeOf<double>() { return BREW_F64; }
template <> constexpr brew_dtype dtypeOf<std::int32_t>() { return BREW_I32; }

/// The first exception of callbacks within a call.
class Thrown {
public:
  template <typename Body> bool keep(Body &&body) noexcept {
    try {
      body();
      return true;
    } catch (...) {
      if (!first)
        first = std::current_exception();
      return false;
    }
  }
  void rethrow() {
    if (first)
      std::rethrow_exception(std::exchange(first, nullptr));
  }

private:
  std::exception_ptr first;
};

} // namespace detail

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

class Plan {
public:
  explicit Plan(const std::string &path) {
    brew_plan *opened = nullptr;
    const brew_status status = brew_plan_open(path.c_str(), &opened);
    plan.reset(opened);
    detail::check(status, brew_plan_message(opened));
  }
  /// Over bytes in memory, which are copied unless `borrow` (see brew.h).
  Plan(const void *bytes, std::size_t size, const std::string &name,
       bool borrow = false) {
    brew_plan *opened = nullptr;
    const brew_status status =
        brew_plan_open_memory(bytes, size, name.c_str(), borrow, &opened);
    plan.reset(opened);
    detail::check(status, brew_plan_message(opened));
  }

  const brew_plan *get() const { return plan.get(); }

  /// All there is to know, as JSON.
  const char *describe() const {
    const char *json = nullptr;
    detail::check(brew_plan_describe(get(), &json),
                  "the plan cannot be described");
    return json;
  }
  brew_plan_info info() const {
    auto info = makeStruct<brew_plan_info>();
    detail::check(brew_plan_get_info(get(), &info), "no open plan");
    return info;
  }
  int programs() const {
    return static_cast<int>(brew_plan_program_count(get()));
  }
  brew_program_info programInfo(int program) const {
    auto info = makeStruct<brew_program_info>();
    detail::check(brew_plan_get_program(get(), program, &info),
                  "the plan has no program of this number");
    return info;
  }
  brew_step_info step(int program, std::size_t index) const {
    auto info = makeStruct<brew_step_info>();
    detail::check(brew_plan_get_step(get(), program, index, &info),
                  "the program has no step of this number");
    return info;
  }
  /// Number of a program, or -1.
  int findProgram(const std::string &name) const {
    return brew_plan_find_program(get(), name.c_str());
  }
  /// Number of a program; throws if there is none of this name.
  int program(const std::string &name) const {
    const int found = findProgram(name);
    if (found < 0)
      throw Error(BREW_USAGE,
                  "the plan has no program '" + name + "'; it has: " + names());
    return found;
  }
  /// The names of all programs, with commas.
  std::string names() const {
    std::string list;
    for (int i = 0; i < programs(); ++i)
      list += (i ? ", " : "") + std::string(programInfo(i).name);
    return list;
  }

private:
  detail::Owner<brew_plan, brew_plan_destroy> plan;
};

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

class Pool {
public:
  explicit Pool(int threads = 0) {
    auto options = makeStruct<brew_pool_options>();
    options.threads = threads;
    brew_pool *opened = nullptr;
    const brew_status status = brew_pool_open(&options, &opened);
    pool.reset(opened);
    detail::check(status, brew_pool_message(opened));
  }
  brew_pool *get() const { return pool.get(); }

private:
  detail::Owner<brew_pool, brew_pool_destroy> pool;
};

using Listener = std::function<void(const brew_event &)>;

struct OutputValue {
  std::string blob;
  double value;
  double lossWeight; ///< 0 for a blob that is no loss
};

namespace detail {
inline std::vector<OutputValue> copies(const brew_output_value *outputs,
                                       std::size_t count) {
  std::vector<OutputValue> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(
        {outputs[i].blob, outputs[i].value, outputs[i].loss_weight});
  return result;
}
} // namespace detail

/// Names one tensor of a session, by value.
struct TensorName {
  brew_tensor_kind kind = BREW_BLOB;
  int program = 0;
  std::string name;
  int index = 0, slot = 0;
};

struct SessionOptions {
  int threads = 0, gpu = 0;
  std::uint64_t seed = 0;
  std::string folder;                             ///< "": the plan's
  const Pool *pool = nullptr;                     ///< null: its own threads
  const class Session *shareParameters = nullptr; ///< null: its own
  std::string timingCache;                        ///< "": none
  bool tune = true, deterministic = false;
  std::uint64_t workspaceLimit = std::uint64_t(1) << 30;
  bool logToStderr = false;
  Listener listener; ///< the first
};

class Session {
public:
  explicit Session(const Plan &plan, SessionOptions options = {})
      : state(std::make_shared<State>()) {
    auto given = makeStruct<brew_session_options>();
    given.threads = options.threads;
    given.gpu = options.gpu;
    given.seed = options.seed;
    given.folder = options.folder.empty() ? nullptr : options.folder.c_str();
    given.pool = options.pool ? options.pool->get() : nullptr;
    given.share_parameters =
        options.shareParameters ? options.shareParameters->get() : nullptr;
    given.timing_cache =
        options.timingCache.empty() ? nullptr : options.timingCache.c_str();
    given.no_tuning = !options.tune;
    given.deterministic = options.deterministic;
    given.workspace_limit =
        options.workspaceLimit ? options.workspaceLimit : BREW_NO_WORKSPACE;
    given.log_to_stderr = options.logToStderr;
    if (options.listener) {
      given.listener = listen;
      given.listener_user = state->hold(std::move(options.listener));
    }
    brew_session *opened = nullptr;
    const brew_status status = brew_session_open(plan.get(), &given, &opened);
    state->session.reset(opened);
    check(status);
  }

  brew_session *get() const { return state->session.get(); }
  const char *device() const { return brew_session_device(get()); }

  /// Returns what removeListener() takes.
  int addListener(Listener listener) {
    Callback *held = state->hold(std::move(listener));
    int number = 0;
    check(brew_session_add_listener(get(), listen, held, &number));
    return number;
  }
  void removeListener(int number) {
    check(brew_session_remove_listener(get(), number));
  }

  void initialise(const std::vector<std::string> &weights = {},
                  bool required = false) {
    const auto names = detail::views(weights);
    check(brew_session_initialise(get(), names.data(), names.size(),
                                  required ? BREW_REQUIRE_WEIGHTS : 0));
  }
  void loadWeights(const std::vector<std::string> &weights) {
    const auto names = detail::views(weights);
    check(brew_session_load_weights(get(), names.data(), names.size()));
  }
  void saveWeights(const std::string &path) {
    check(brew_session_save_weights(get(), path.c_str()));
  }
  void prepare() { check(brew_session_prepare(get())); }
  void resetState() { check(brew_session_reset_state(get())); }
  void setSeed(std::uint64_t seed) {
    check(brew_session_set_seed(get(), seed));
  }

  // Inputs.

  std::size_t inputs(int program) {
    return brew_session_input_count(get(), program);
  }
  brew_input input(int program, std::size_t index) {
    auto input = makeStruct<brew_input>();
    check(brew_session_get_input(get(), program, index, &input));
    return input;
  }
  /// The input of this name, if the program has it.
  std::optional<brew_input> findInput(int program, const std::string &name) {
    for (std::size_t i = 0; i < inputs(program); ++i)
      if (brew_input found = input(program, i); name == found.name)
        return found;
    return std::nullopt;
  }
  /// `Value`: float, double or int32_t.
  template <typename Value>
  void setInput(int program, const std::string &name, const Value *values,
                std::int64_t count) {
    check(brew_session_set_input(get(), program, name.c_str(),
                                 detail::dtypeOf<Value>(), values, count));
  }
  template <typename Value>
  void setInput(int program, const std::string &name,
                const std::vector<Value> &values) {
    setInput(program, name, values.data(),
             static_cast<std::int64_t>(values.size()));
  }
  using Feed =
      std::function<void(const brew_feed_request *requests, std::size_t count)>;
  /// Takes over inputs; none named: all of them.
  void setFeed(int program, const std::vector<std::string> &names, Feed feed) {
    Callback *held = state->hold({});
    held->feed = std::move(feed);
    const auto inputs = detail::views(names);
    check(brew_session_set_feed(get(), program, inputs.data(), inputs.size(),
                                fill, held));
  }
  void setRandomInputs(int program, std::uint64_t seed) {
    check(brew_session_set_random_inputs(get(), program, seed));
  }
  void openSources(int program) {
    check(brew_session_open_sources(get(), program));
  }
  void resetSources(int program, std::uint64_t seed) {
    check(brew_session_reset_sources(get(), program, seed));
  }

  // Running.

  void feed(int program) { check(brew_session_feed(get(), program)); }
  void run(int program, brew_pass pass = BREW_BOTH) {
    check(brew_session_run(get(), program, pass));
  }
  void feedAndRun(int program) {
    check(brew_session_feed_and_run(get(), program));
  }
  /// "": from the first, to the last.
  void runLayers(int program, const std::string &first, const std::string &last,
                 brew_pass pass = BREW_FORWARD) {
    check(brew_session_run_layers(get(), program,
                                  first.empty() ? nullptr : first.c_str(),
                                  last.empty() ? nullptr : last.c_str(), pass));
  }
  std::vector<std::string> layers(int program) {
    std::vector<std::string> result;
    const std::size_t count = brew_session_layer_count(get(), program);
    for (std::size_t i = 0; i < count; ++i)
      if (const char *name = brew_session_layer(get(), program, i))
        result.emplace_back(name);
    return result;
  }
  void runTimed(int program,
                const std::function<void(std::size_t, double)> &observer) {
    struct Call {
      const std::function<void(std::size_t, double)> &observer;
      detail::Thrown &thrown;
    } call{observer, state->thrown};
    check(brew_session_run_timed(
        get(), program,
        [](std::size_t step, double seconds, void *user) {
          Call &it = *static_cast<Call *>(user);
          it.thrown.keep([&] { it.observer(step, seconds); });
        },
        &call));
  }
  /// Seconds of each of `count` runs.
  std::vector<double> measure(const std::vector<int> &programs, int count,
                              brew_measurement *measurement = nullptr) {
    std::vector<double> seconds(
        static_cast<std::size_t>(count > 0 ? count : 0));
    check(brew_session_measure(get(), programs.data(), programs.size(), count,
                               seconds.data(), measurement));
    return seconds;
  }
  void synchronize() { check(brew_session_synchronize(get())); }
  void setLearningRate(double rate) {
    check(brew_session_set_learning_rate(get(), rate));
  }
  std::vector<OutputValue> outputs(int program) {
    const brew_output_value *values = nullptr;
    std::size_t count = 0;
    check(brew_session_outputs(get(), program, &values, &count));
    return detail::copies(values, count);
  }
  double loss(int program) {
    double loss = 0;
    check(brew_session_loss(get(), program, &loss));
    return loss;
  }
  struct Score {
    std::vector<OutputValue> means;
    double loss;
  };
  /// `batch` is called after each of them.
  Score score(int program, int batches,
              const std::function<void(int, const std::vector<OutputValue> &)>
                  &batch = {}) {
    struct Call {
      const std::function<void(int, const std::vector<OutputValue> &)> &batch;
      detail::Thrown &thrown;
    } call{batch, state->thrown};
    const brew_output_value *means = nullptr;
    std::size_t count = 0;
    Score score{};
    check(brew_session_score(
        get(), program, batches,
        [](int number, const brew_output_value *outputs, std::size_t size,
           void *user) {
          Call &it = *static_cast<Call *>(user);
          if (it.batch)
            it.thrown.keep(
                [&] { it.batch(number, detail::copies(outputs, size)); });
        },
        &call, &means, &count, &score.loss));
    score.means = detail::copies(means, count);
    return score;
  }
  void announce(int program) { check(brew_session_announce(get(), program)); }
  void tellDebugInfo(int program) {
    check(brew_session_tell_debug_info(get(), program));
  }

  // Tensors.

  static TensorName blob(int program, std::string name) {
    return {BREW_BLOB, program, std::move(name), 0, 0};
  }
  static TensorName blobGradient(int program, std::string name) {
    return {BREW_BLOB_GRADIENT, program, std::move(name), 0, 0};
  }
  static TensorName parameter(std::string layer, int index) {
    return {BREW_PARAMETER, 0, std::move(layer), index, 0};
  }
  static TensorName parameterGradient(std::string layer, int index) {
    return {BREW_PARAMETER_GRADIENT, 0, std::move(layer), index, 0};
  }

  std::vector<TensorName> names(brew_tensor_kind kind, int program = 0) {
    std::vector<TensorName> result;
    const std::size_t count = brew_session_tensor_count(get(), kind, program);
    for (std::size_t i = 0; i < count; ++i) {
      auto name = makeStruct<brew_tensor_name>();
      check(brew_session_get_tensor_name(get(), kind, program, i, &name));
      result.push_back(
          {name.kind, name.program, name.name, name.index, name.slot});
    }
    return result;
  }
  brew_tensor find(const TensorName &name) {
    auto tensor = makeStruct<brew_tensor>();
    const brew_tensor_name given = nameOf(name);
    check(brew_session_find(get(), &given, &tensor));
    return tensor;
  }
  /// All values there are.
  template <typename Value = float>
  std::vector<Value> read(const TensorName &name) {
    std::vector<Value> values(static_cast<std::size_t>(find(name).count));
    const brew_tensor_name given = nameOf(name);
    check(brew_session_read(get(), &given, detail::dtypeOf<Value>(),
                            values.data(),
                            static_cast<std::int64_t>(values.size())));
    return values;
  }
  template <typename Value>
  void write(const TensorName &name, const std::vector<Value> &values) {
    const brew_tensor_name given = nameOf(name);
    check(brew_session_write(get(), &given, detail::dtypeOf<Value>(),
                             values.data(),
                             static_cast<std::int64_t>(values.size())));
  }

private:
  friend class Trainer;

  struct State;
  struct Callback {
    State *state;
    Listener listener;
    Feed feed;
  };
  /// What callbacks find, wherever the session is moved to.
  struct State {
    detail::Thrown thrown;
    std::vector<std::unique_ptr<Callback>> callbacks; ///< outlive `session`
    detail::Owner<brew_session, brew_session_destroy> session;

    Callback *hold(Listener listener) {
      callbacks.push_back(std::unique_ptr<Callback>(
          new Callback{this, std::move(listener), {}}));
      return callbacks.back().get();
    }
  };

  static void listen(const brew_event *event, void *user) {
    Callback &it = *static_cast<Callback *>(user);
    it.state->thrown.keep([&] { it.listener(*event); });
  }
  static brew_status fill(const brew_feed_request *requests, std::size_t count,
                          void *user) {
    Callback &it = *static_cast<Callback *>(user);
    return it.state->thrown.keep([&] { it.feed(requests, count); })
               ? BREW_OK
               : BREW_BAD_INPUT;
  }
  static brew_tensor_name nameOf(const TensorName &name) {
    auto result = makeStruct<brew_tensor_name>();
    result.kind = name.kind;
    result.program = name.program;
    result.name = name.name.c_str();
    result.index = name.index;
    result.slot = name.slot;
    return result;
  }
  void check(brew_status status) const {
    state->thrown.rethrow();
    detail::check(status, brew_session_message(get()));
  }

  std::shared_ptr<State> state;
};

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

struct TrainerOptions {
  /// Solver fields instead of the plan's: names as in the prototxt, and values.
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> weights;
  std::string snapshot;            ///< "": none
  std::optional<double> lossScale; ///< f16
};

class Trainer {
public:
  explicit Trainer(Session &session, const TrainerOptions &options = {})
      : state(session.state) {
    std::vector<const char *> names, values;
    for (const auto &[name, value] : options.fields) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    const auto weights = detail::views(options.weights);
    auto given = makeStruct<brew_trainer_options>();
    given.field_names = names.data();
    given.field_values = values.data();
    given.field_count = names.size();
    given.weights = weights.data();
    given.weight_count = weights.size();
    given.snapshot =
        options.snapshot.empty() ? nullptr : options.snapshot.c_str();
    given.loss_scale = options.lossScale ? &*options.lossScale : nullptr;
    brew_trainer *opened = nullptr;
    const brew_status status =
        brew_trainer_open(session.get(), &given, &opened);
    trainer.reset(opened);
    check(status);
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

  double forward(bool feed = true) {
    double loss = 0;
    check(brew_trainer_forward(get(), feed, &loss));
    return loss;
  }
  void backward() { check(brew_trainer_backward(get())); }
  void accumulate() { check(brew_trainer_accumulate(get())); }
  void update() { check(brew_trainer_update(get())); }

  int iteration() const { return brew_trainer_iteration(get()); }
  double smoothedLoss() const { return brew_trainer_smoothed_loss(get()); }
  double learningRate() const { return brew_trainer_learning_rate(get()); }

  // Any thread.

  void pause() { brew_trainer_pause(get()); }
  void resume() { brew_trainer_resume(get()); }
  void stop() { brew_trainer_stop(get()); }
  void requestSnapshot() { brew_trainer_request_snapshot(get()); }
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

  /// Asked between iterations on the training thread, for signals.
  void setActionSource(std::function<brew_action()> source) {
    *action = std::move(source);
    check(brew_trainer_set_action_source(
        get(),
        [](void *user) {
          return (*static_cast<std::function<brew_action()> *>(user))();
        },
        action.get()));
  }

private:
  void check(brew_status status) const {
    state->thrown.rethrow();
    detail::check(status, brew_trainer_message(get()));
  }

  std::shared_ptr<Session::State> state;
  std::unique_ptr<std::function<brew_action()>> action =
      std::make_unique<std::function<brew_action()>>();
  detail::Owner<brew_trainer, brew_trainer_destroy> trainer;
};

/// The solver fields that callers may set.
inline std::vector<brew_solver_field> solverFields() {
  std::vector<brew_solver_field> fields;
  for (std::size_t i = 0; i < brew_solver_field_count(); ++i) {
    fields.push_back(makeStruct<brew_solver_field>());
    detail::check(brew_solver_field_get(i, &fields.back()), "no such field");
  }
  return fields;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

class Records {
public:
  /// `dims`: what a record becomes.
  Records(const std::string &path, const std::vector<std::int64_t> &dims,
          const std::string &blob = "", const std::string &mean = "",
          double scale = 1) {
    auto options = makeStruct<brew_records_options>();
    if (dims.size() > BREW_MAX_DIMS)
      throw Error(BREW_USAGE, "the records have too many dimensions");
    options.ndim = dims.size();
    for (std::size_t i = 0; i < dims.size(); ++i)
      options.dims[i] = dims[i];
    options.blob = blob.c_str();
    options.mean = mean.empty() ? nullptr : mean.c_str();
    options.scale = &scale;
    brew_records *opened = nullptr;
    const brew_status status =
        brew_records_open(path.c_str(), &options, &opened);
    records.reset(opened);
    detail::check(status, brew_records_message(opened));
  }
  /// The next record, whose pointers are valid until the next call; nothing at
  /// the end.
  std::optional<brew_record> next() {
    auto record = makeStruct<brew_record>();
    int more = 0;
    const brew_status status = brew_records_next(records.get(), &record, &more);
    detail::check(status, brew_records_message(records.get()));
    if (!more)
      return std::nullopt;
    return record;
  }

private:
  detail::Owner<brew_records, brew_records_destroy> records;
};

class TensorFile {
public:
  TensorFile(const std::string &path, brew_file_mode mode) {
    brew_tensor_file *opened = nullptr;
    const brew_status status =
        brew_tensor_file_open(path.c_str(), mode, &opened);
    file.reset(opened);
    check(status);
  }
  std::vector<std::string> list(const std::string &group = "/") {
    const char *const *names = nullptr;
    std::size_t count = 0;
    check(brew_tensor_file_list(file.get(), group.c_str(), &names, &count));
    return {names, names + count};
  }
  brew_dataset find(const std::string &name) {
    auto dataset = makeStruct<brew_dataset>();
    check(brew_tensor_file_find(file.get(), name.c_str(), &dataset));
    return dataset;
  }
  /// `Value`: float or double.
  template <typename Value = float>
  std::vector<Value> read(const std::string &name) {
    std::vector<Value> values(static_cast<std::size_t>(find(name).count));
    check(brew_tensor_file_read(file.get(), name.c_str(),
                                detail::dtypeOf<Value>(), values.data(),
                                static_cast<std::int64_t>(values.size())));
    return values;
  }
  template <typename Value>
  void write(const std::string &name, const std::vector<std::int64_t> &dims,
             const Value *values) {
    check(brew_tensor_file_write(file.get(), name.c_str(),
                                 detail::dtypeOf<Value>(), dims.data(),
                                 dims.size(), values));
  }
  void commit() { check(brew_tensor_file_commit(file.get())); }

private:
  void check(brew_status status) const {
    detail::check(status, brew_tensor_file_message(file.get()));
  }

  detail::Owner<brew_tensor_file, brew_tensor_file_destroy> file;
};

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

/// Properties of a GPU, or of the processor (-1), in order.
inline std::vector<std::pair<std::string, std::string>> deviceQuery(int gpu) {
  std::vector<std::pair<std::string, std::string>> properties;
  char message[1024];
  const brew_status status = brew_device_query(
      gpu,
      [](const char *name, const char *value, void *user) {
        static_cast<std::vector<std::pair<std::string, std::string>> *>(user)
            ->emplace_back(name, value);
      },
      &properties, message, sizeof message);
  detail::check(status, message);
  return properties;
}
inline int gpuCount() {
  char message[1024];
  int count = 0;
  detail::check(brew_gpu_count(&count, message, sizeof message), message);
  return count;
}

} // namespace brew::api
