//===- session.hpp - Sessions: a plan with its memory -----------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/communicator.hpp>
#include <brew/events.hpp>
#include <brew/host_layer.hpp>
#include <brew/inputs.h>
#include <brew/options.hpp>
#include <brew/plan.hpp>
#include <brew/running.h>
#include <brew/session.h>
#include <brew/tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace brew::api {

class ThreadPool {
public:
  explicit ThreadPool(int threads = 0) {
    auto options = makeStruct<brew_thread_pool_options>();
    options.threads = threads;
    brew_thread_pool *opened = nullptr;
    const brew_status status = brew_thread_pool_open(&options, &opened);
    pool.reset(opened);
    detail::check(status, brew_thread_pool_message(opened));
  }
  brew_thread_pool *get() const { return pool.get(); }

private:
  detail::UniqueHandle<brew_thread_pool, brew_thread_pool_destroy> pool;
};

struct SessionOptions {
  Options options; ///< by name
  int gpu = 0;
  std::string folder;                             ///< "": the plan's folder
  const ThreadPool *pool = nullptr;               ///< null: its own threads
  const class Session *shareParameters = nullptr; ///< null: its own
  bool logToStderr = false;
  Listener listener; ///< the first
  std::vector<HostLayerType> hostLayers;
  const Communicator *communicator = nullptr; ///< null: a single process
  /// Without communicator; 0 ranks: a single process.
  int readerRank = 0, readerRanks = 0;
};

class Session {
public:
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  Session(Session &&) = default;
  Session &operator=(Session &&) = default;

  explicit Session(const Plan &plan, SessionOptions options = {})
      : state(std::make_shared<State>()) {
    auto cOptions = makeStruct<brew_session_options>();
    cOptions.options = options.options.get();
    cOptions.gpu = options.gpu;
    cOptions.folder = options.folder.empty() ? nullptr : options.folder.c_str();
    cOptions.pool = options.pool ? options.pool->get() : nullptr;
    cOptions.share_parameters =
        options.shareParameters ? options.shareParameters->get() : nullptr;
    cOptions.log_to_stderr = options.logToStderr;
    if (options.listener) {
      cOptions.listener = listen;
      cOptions.listener_user = state->addCallback(std::move(options.listener));
    }
    std::vector<brew_host_layer> hostLayers;
    for (const HostLayerType &type : options.hostLayers)
      hostLayers.push_back(type.get());
    cOptions.host_layers = hostLayers.data();
    cOptions.host_layer_count = hostLayers.size();
    cOptions.communicator =
        options.communicator ? options.communicator->get() : nullptr;
    cOptions.reader_rank = options.readerRank;
    cOptions.reader_ranks = options.readerRanks;
    brew_session *opened = nullptr;
    const brew_status status =
        brew_session_open(plan.get(), &cOptions, &opened);
    state->session.reset(opened);
    check(status);
  }

  brew_session *get() const { return state->session.get(); }
  const char *device() const { return brew_session_device(get()); }

  /// Returns the argument of removeListener().
  int addListener(Listener listener) {
    const bool empty = !listener;
    Callback *callback = state->addCallback(std::move(listener));
    const brew_status status = brew_session_add_listener(
        get(), empty ? nullptr : listen, callback, &callback->number);
    if (status != BREW_OK)
      state->release([&](const Callback &it) { return &it == callback; });
    check(status);
    return callback->number;
  }
  void removeListener(int number) {
    check(brew_session_remove_listener(get(), number));
    state->release([&](const Callback &it) {
      return it.number >= 0 && it.number == number;
    });
  }

  void initialise(const std::vector<std::string> &weights = {},
                  bool required = false) {
    const auto names = detail::cStrings(weights);
    check(brew_session_initialise(get(), names.data(), names.size(),
                                  required ? BREW_REQUIRE_WEIGHTS : 0));
  }
  void loadWeights(const std::vector<std::string> &weights) {
    const auto names = detail::cStrings(weights);
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
    const std::size_t count = brew_session_input_count(get(), program);
    if (countFailed(count))
      input(program, 0); // fails too, with a message
    return count;
  }
  brew_input input(int program, std::size_t index) {
    auto input = makeStruct<brew_input>();
    check(brew_session_get_input(get(), program, index, &input));
    return input;
  }
  /// Returns the input of this name, or nullopt.
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
    state->takenOver(program, {name});
  }
  template <typename Value>
  void setInput(int program, const std::string &name,
                const std::vector<Value> &values) {
    setInput(program, name, values.data(),
             static_cast<std::int64_t>(values.size()));
  }
  /// The values that the last feed wrote; call it before the run. `Value`:
  /// float or double.
  template <typename Value = float>
  std::vector<Value> readInput(int program, const brew_input &input) {
    std::vector<Value> values(static_cast<std::size_t>(input.count));
    check(brew_session_read_input(get(), program, input.name,
                                  detail::dtypeOf<Value>(), values.data(),
                                  input.count));
    return values;
  }
  using Feed =
      std::function<void(const brew_feed_request *requests, std::size_t count)>;
  /// Overrides inputs; empty `names`: all of them.
  void setFeed(int program, const std::vector<std::string> &names, Feed feed) {
    const std::set<std::string> taken =
        names.empty() ? inputNames(program)
                      : std::set<std::string>(names.begin(), names.end());
    const bool empty = !feed;
    Callback *callback = state->addCallback({});
    callback->feed = std::move(feed);
    const auto inputs = detail::cStrings(names);
    const brew_status status =
        brew_session_set_feed(get(), program, inputs.data(), inputs.size(),
                              empty ? nullptr : fill, callback);
    if (status != BREW_OK)
      state->release([&](const Callback &it) { return &it == callback; });
    check(status);
    state->takenOver(program, taken);
    callback->program = program;
    callback->inputs = taken;
  }
  void setRandomInputs(int program, std::uint64_t seed) {
    check(brew_session_set_random_inputs(get(), program, seed));
    state->takenOver(program, inputNames(program));
  }
  void openSources(int program) {
    check(brew_session_open_sources(get(), program));
  }
  void resetSources(int program, std::uint64_t seed) {
    check(brew_session_reset_sources(get(), program, seed));
  }

  // Running.

  void feed(int program) { check(brew_session_feed(get(), program)); }
  void run(int program, brew_pass pass = BREW_FORWARD_BACKWARD) {
    check(brew_session_run(get(), program, pass));
  }
  void feedAndRun(int program) {
    check(brew_session_feed_and_run(get(), program));
  }
  /// "": from the first, to the last layer.
  void runLayers(int program, const std::string &first, const std::string &last,
                 brew_pass pass = BREW_FORWARD) {
    check(brew_session_run_layers(get(), program,
                                  first.empty() ? nullptr : first.c_str(),
                                  last.empty() ? nullptr : last.c_str(), pass));
  }
  std::vector<std::string> layers(int program) {
    std::vector<std::string> result;
    const std::size_t count = brew_session_layer_count(get(), program);
    if (countFailed(count))
      throw Error(BREW_USAGE, brew_session_message(get()));
    for (std::size_t i = 0; i < count; ++i)
      if (const char *name = brew_session_layer(get(), program, i))
        result.emplace_back(name);
    return result;
  }
  void runTimed(int program,
                const std::function<void(std::size_t, double)> &observer) {
    struct Call {
      const std::function<void(std::size_t, double)> &observer;
      detail::CallbackError &thrown;
    } call{observer, state->thrown};
    check(brew_session_run_timed(
        get(), program,
        [](std::size_t step, double seconds, void *user) {
          Call &it = *static_cast<Call *>(user);
          it.thrown.capture([&] { it.observer(step, seconds); });
        },
        &call));
  }
  /// Returns the seconds of each of `count` runs.
  std::vector<double> measure(const std::vector<int> &programs, int count,
                              brew_measurement *measurement = nullptr) {
    std::vector<double> seconds(
        static_cast<std::size_t>(count > 0 ? count : 0));
    check(brew_session_measure(get(), programs.data(), programs.size(), count,
                               seconds.data(), measurement));
    return seconds;
  }
  /// Calls `report` for each library call.
  void tune(const std::function<void(const brew_tuned_call &)> &report = {}) {
    struct Call {
      const std::function<void(const brew_tuned_call &)> &report;
      detail::CallbackError &thrown;
    } call{report, state->thrown};
    check(brew_session_tune(
        get(),
        [](const brew_tuned_call *tuned, void *user) {
          Call &it = *static_cast<Call *>(user);
          if (it.report)
            it.thrown.capture([&] { it.report(*tuned); });
        },
        &call));
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
  /// Calls `batch` after each batch.
  Score score(int program, int batches,
              const std::function<void(int, const std::vector<OutputValue> &)>
                  &batch = {}) {
    struct Call {
      const std::function<void(int, const std::vector<OutputValue> &)> &batch;
      detail::CallbackError &thrown;
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
            it.thrown.capture(
                [&] { it.batch(number, detail::copies(outputs, size)); });
        },
        &call, &means, &count, &score.loss));
    score.means = detail::copies(means, count);
    return score;
  }
  void emitNetSetUp(int program) {
    check(brew_session_emit_net_set_up(get(), program));
  }
  void emitDebugInfo(int program) {
    check(brew_session_emit_debug_info(get(), program));
  }

  // Tensors.

  static TensorName blob(int program, std::string name) {
    return {BREW_BLOB, program, std::move(name), 0, 0};
  }
  static TensorName blobGradient(int program, std::string name) {
    return {BREW_BLOB_GRADIENT, program, std::move(name), 0, 0};
  }
  /// The gradient of a blob that the caller writes (brewc --output-gradient).
  static TensorName outputGradient(int program, std::string name) {
    return {BREW_OUTPUT_GRADIENT, program, std::move(name), 0, 0};
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
    auto name = makeStruct<brew_tensor_name>();
    if (countFailed(count)) // this call fails too, with a message
      check(brew_session_get_tensor_name(get(), kind, program, 0, &name));
    for (std::size_t i = 0; i < count; ++i) {
      check(brew_session_get_tensor_name(get(), kind, program, i, &name));
      result.push_back(
          {name.kind, name.program, name.name, name.index, name.slot});
    }
    return result;
  }
  brew_tensor find(const TensorName &name) {
    auto tensor = makeStruct<brew_tensor>();
    const brew_tensor_name cName = nameOf(name);
    check(brew_session_find(get(), &cName, &tensor));
    return tensor;
  }
  /// Reads all values.
  template <typename Value = float>
  std::vector<Value> read(const TensorName &name) {
    std::vector<Value> values(static_cast<std::size_t>(find(name).count));
    const brew_tensor_name cName = nameOf(name);
    check(brew_session_read(get(), &cName, detail::dtypeOf<Value>(),
                            values.data(),
                            static_cast<std::int64_t>(values.size())));
    return values;
  }
  /// The caller's memory for a tensor; with nullptr, the session's own.
  struct Binding {
    TensorName name;
    void *data = nullptr;
    std::int64_t bytes = 0;
  };
  /// Binds tensors to the caller's memory: all of them, or none if it throws.
  void bindMemory(const std::vector<Binding> &bindings) {
    std::vector<brew_binding> cBindings;
    for (const auto &[name, data, bytes] : bindings) {
      auto binding = makeStruct<brew_binding>();
      binding.name = nameOf(name);
      binding.data = data;
      binding.bytes = bytes;
      cBindings.push_back(binding);
    }
    check(brew_session_bind_memory(get(), cBindings.data(), cBindings.size()));
  }
  /// Binds one tensor.
  void bindMemory(const TensorName &name, void *data, std::int64_t bytes) {
    bindMemory({Binding{name, data, bytes}});
  }
  template <typename Value>
  void write(const TensorName &name, const std::vector<Value> &values) {
    const brew_tensor_name cName = nameOf(name);
    check(brew_session_write(get(), &cName, detail::dtypeOf<Value>(),
                             values.data(),
                             static_cast<std::int64_t>(values.size())));
  }

private:
  friend class Learner;
  friend class Trainer;

  struct State;
  struct Callback {
    State *state;
    Listener listener;
    int number = -1; ///< of the listener
    Feed feed;
    int program = -1;
    std::set<std::string> inputs; ///< inputs of the program that `feed` fills
  };
  /// State that callbacks access, at a fixed address even if the session moves.
  struct State {
    detail::CallbackError thrown;
    std::vector<std::unique_ptr<Callback>> callbacks; ///< outlive `session`
    detail::UniqueHandle<brew_session, brew_session_destroy> session;

    Callback *addCallback(Listener listener) {
      callbacks.push_back(std::make_unique<Callback>());
      callbacks.back()->state = this;
      callbacks.back()->listener = std::move(listener);
      return callbacks.back().get();
    }
    template <typename Predicate> void release(Predicate &&which) {
      callbacks.erase(
          std::remove_if(callbacks.begin(), callbacks.end(),
                         [&](const auto &each) { return which(*each); }),
          callbacks.end());
    }
    /// Removes feeds for inputs that another call has overridden.
    void takenOver(int program, const std::set<std::string> &names) {
      release([&](Callback &it) {
        if (it.program != program)
          return false;
        for (const std::string &name : names)
          it.inputs.erase(name);
        return it.inputs.empty();
      });
    }
  };

  static void listen(const brew_event *event, void *user) {
    Callback &it = *static_cast<Callback *>(user);
    it.state->thrown.capture([&] { it.listener(*event); });
  }
  static brew_status fill(const brew_feed_request *requests, std::size_t count,
                          void *user) {
    Callback &it = *static_cast<Callback *>(user);
    return it.state->thrown.capture([&] { it.feed(requests, count); })
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
  std::set<std::string> inputNames(int program) {
    std::set<std::string> names;
    const std::size_t count = inputs(program);
    for (std::size_t i = 0; i < count; ++i)
      names.insert(input(program, i).name);
    return names;
  }
  /// For functions that return 0 on failure.
  bool countFailed(std::size_t count) const {
    return !count && *brew_session_message(get());
  }
  void check(brew_status status) const {
    state->thrown.rethrow();
    detail::check(status, brew_session_message(get()));
  }

  std::shared_ptr<State> state;
};

} // namespace brew::api
