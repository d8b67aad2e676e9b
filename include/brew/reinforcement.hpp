//===- reinforcement.hpp - Reinforcement learning ---------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/reinforcement.h>
#include <brew/training.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace brew::api {

/// The result of an action.
struct Outcome {
  double reward = 0;
  brew_episode_state state = BREW_EPISODE_RUNNING;
  bool ended() const { return state != BREW_EPISODE_RUNNING; }
};

/// The environment of agents: derive from it, or open a built-in one. The
/// learner's call rethrows exceptions of its functions.
class Environment {
public:
  virtual ~Environment() = default;
  virtual std::int64_t observationCount() const = 0;
  virtual int actionCount() const = 0;
  /// Bounds of the numbers in an observation; empty: unknown.
  virtual std::vector<float> low() const { return {}; }
  virtual std::vector<float> high() const { return {}; }
  /// Starts the episode with this seed; `observation` has room for
  /// observationCount() numbers.
  virtual void reset(std::uint64_t seed, float *observation) = 0;
  virtual Outcome step(int action, float *observation) = 0;
};

/// A built-in environment by its name, which properties may follow:
/// "cartpole:FailureReward=0" (brew_environment_open).
class BuiltInEnvironment : public Environment {
public:
  explicit BuiltInEnvironment(const std::string &name) {
    brew_environment *opened = nullptr;
    const brew_status status = brew_environment_open(name.c_str(), &opened);
    environment.reset(opened);
    check(status);
  }
  brew_environment *get() const { return environment.get(); }
  std::int64_t observationCount() const override {
    return brew_environment_observation_count(get());
  }
  int actionCount() const override {
    return brew_environment_action_count(get());
  }
  void reset(std::uint64_t seed, float *observation) override {
    check(brew_environment_reset(get(), seed, observation));
  }
  Outcome step(int action, float *observation) override {
    Outcome outcome;
    check(brew_environment_step(get(), action, observation, &outcome.reward,
                                &outcome.state));
    return outcome;
  }

  /// Calls `function` after each reset and step, ignoring its exceptions;
  /// empty: no observer. Not while a learner uses the environment.
  void setObserver(std::function<void(const brew_scene &)> function) {
    auto next = std::make_unique<std::function<void(const brew_scene &)>>(
        std::move(function));
    check(brew_environment_set_observer(get(), *next ? observe : nullptr,
                                        next.get()));
    observer = std::move(next);
  }

private:
  static void observe(const brew_scene *scene, void *user) {
    try {
      (*static_cast<std::function<void(const brew_scene &)> *>(user))(*scene);
    } catch (...) {
    }
  }
  void check(brew_status status) const {
    detail::check(status, brew_environment_message(get()));
  }
  std::unique_ptr<std::function<void(const brew_scene &)>> observer;
  detail::UniqueHandle<brew_environment, brew_environment_destroy> environment;
};

/// Records the next episode of an environment as an image file: `path` ends in
/// .gif or .png. Without finish() no file is written. The environment must
/// outlive the recorder.
class EpisodeRecorder {
public:
  /// `options`: makeStruct<brew_episode_recorder_options>() with changed
  /// fields.
  EpisodeRecorder(BuiltInEnvironment &environment, const std::string &path,
                  const brew_episode_recorder_options &options =
                      makeStruct<brew_episode_recorder_options>()) {
    brew_episode_recorder *opened = nullptr;
    const brew_status status = brew_episode_recorder_open(
        environment.get(), path.c_str(), &options, &opened);
    film.reset(opened);
    check(status);
  }
  void finish() { check(brew_episode_recorder_finish(film.get())); }

private:
  void check(brew_status status) const {
    detail::check(status, brew_episode_recorder_message(film.get()));
  }
  detail::UniqueHandle<brew_episode_recorder, brew_episode_recorder_destroy>
      film;
};

struct LearnerOptions {
  std::string trainer;    ///< "": TrainerType of the properties
  std::string properties; ///< "KEY=VALUE;..."
  /// Must outlive the learner.
  std::vector<Environment *> environments;
  std::int64_t maxSteps = 0; ///< 0: the environment decides
  /// Called after each episode with agent, reward and steps.
  std::function<void(int, double, std::int64_t, const brew_learning_progress &)>
      episode = {};
  /// As many as `environments`, or none: for tests, play() and evaluate(). Must
  /// outlive the learner.
  std::vector<Environment *> testEnvironments = {};
};

class Learner {
public:
  Learner(Session &session, Trainer &trainer, LearnerOptions options)
      : state(std::make_unique<State>()) {
    state->episode = std::move(options.episode);
    state->trainer = trainer.get();
    state->session = session.state;
    std::vector<brew_environment *> handles;
    for (Environment *environment : options.environments)
      handles.push_back(handleOf(environment));
    auto cOptions = optionsOf(options);
    cOptions.environments = handles.data();
    cOptions.environment_count = handles.size();
    std::vector<brew_environment *> testHandles;
    for (Environment *environment : options.testEnvironments)
      testHandles.push_back(handleOf(environment));
    if (!testHandles.empty() && testHandles.size() != handles.size())
      throw Error(BREW_USAGE, "there must be as many test environments as "
                              "environments, or none");
    cOptions.test_environments =
        testHandles.empty() ? nullptr : testHandles.data();
    if (state->episode) {
      cOptions.episode = onEpisode;
      cOptions.episode_user = state.get();
    }
    brew_learner *opened = nullptr;
    const brew_status status =
        brew_learner_open(session.get(), trainer.get(), &cOptions, &opened);
    state->learner.reset(opened);
    check(status);
  }

  /// The number of environments that a learner with these options takes.
  static std::size_t environmentCount(Session &session,
                                      const LearnerOptions &options) {
    const auto cOptions = optionsOf(options);
    std::size_t count = 0;
    char message[1024];
    const brew_status status = brew_learner_environment_count(
        session.get(), &cOptions, &count, message, sizeof message);
    detail::check(status, message);
    return count;
  }

  brew_learner *get() const { return state->learner.get(); }
  /// 0: until max_iter or a stop request.
  void train(std::int64_t episodes = 0) {
    checkCall(brew_learner_train(get(), episodes));
  }
  /// Plays episodes without learning from them and returns their mean reward.
  double evaluate(std::int64_t episodes) {
    double reward = 0;
    checkCall(brew_learner_evaluate(get(), episodes, &reward));
    return reward;
  }
  /// Plays episodes without learning from them.
  brew_evaluation play(std::int64_t episodes) {
    auto evaluation = makeStruct<brew_evaluation>();
    checkCall(brew_learner_play(get(), episodes, &evaluation));
    return evaluation;
  }
  brew_learning_progress progress() const {
    auto progress = makeStruct<brew_learning_progress>();
    check(brew_learner_get_progress(get(), &progress));
    return progress;
  }

private:
  struct State {
    std::mutex mutex; ///< of `thrown`: environments run on threads
    detail::CallbackError thrown;
    brew_trainer *trainer = nullptr;
    std::shared_ptr<Session::State> session;
    std::function<void(int, double, std::int64_t,
                       const brew_learning_progress &)>
        episode;
    /// Adapts a caller's environment to C functions.
    struct Adapter {
      Environment *environment;
      State *state;
      detail::UniqueHandle<brew_environment, brew_environment_destroy> handle;
    };
    std::vector<std::unique_ptr<Adapter>> adapters; ///< outlive `learner`
    detail::UniqueHandle<brew_learner, brew_learner_destroy> learner;

    template <typename Body> brew_status capture(Body &&body) noexcept {
      try {
        body();
        return BREW_OK;
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        thrown.capture([] { throw; });
        return BREW_BAD_INPUT;
      }
    }
  };

  static brew_learner_options optionsOf(const LearnerOptions &options) {
    auto cOptions = makeStruct<brew_learner_options>();
    cOptions.trainer =
        options.trainer.empty() ? nullptr : options.trainer.c_str();
    cOptions.properties =
        options.properties.empty() ? nullptr : options.properties.c_str();
    cOptions.max_steps = options.maxSteps;
    return cOptions;
  }

  brew_environment *handleOf(Environment *environment) {
    if (auto *own = dynamic_cast<BuiltInEnvironment *>(environment))
      return own->get();
    state->adapters.push_back(std::make_unique<typename State::Adapter>());
    typename State::Adapter &adapter = *state->adapters.back();
    adapter.environment = environment;
    adapter.state = state.get();
    const std::vector<float> low = environment->low(),
                             high = environment->high();
    auto functions = makeStruct<brew_environment_functions>();
    functions.observation_count = environment->observationCount();
    functions.action_count = environment->actionCount();
    if (!low.empty() && !high.empty()) {
      functions.low = low.data();
      functions.high = high.data();
    }
    functions.reset = reset;
    functions.step = step;
    functions.user = &adapter;
    brew_environment *created = nullptr;
    const brew_status status = brew_environment_create(&functions, &created);
    adapter.handle.reset(created);
    detail::check(status, brew_environment_message(created));
    return created;
  }

  static brew_status reset(std::uint64_t seed, float *observation, void *user) {
    auto &it = *static_cast<typename State::Adapter *>(user);
    return it.state->capture([&] { it.environment->reset(seed, observation); });
  }
  static brew_status step(int action, float *observation, double *reward,
                          brew_episode_state *episode, void *user) {
    auto &it = *static_cast<typename State::Adapter *>(user);
    return it.state->capture([&] {
      const Outcome outcome = it.environment->step(action, observation);
      *reward = outcome.reward;
      *episode = outcome.state;
    });
  }
  static void onEpisode(int agent, double reward, std::int64_t steps,
                        const brew_learning_progress *progress, void *user) {
    State &it = *static_cast<State *>(user);
    if (it.capture([&] { it.episode(agent, reward, steps, *progress); }) !=
        BREW_OK)
      brew_trainer_stop(it.trainer);
  }
  /// Also rethrows exceptions of listeners and of the trainer's action
  /// function.
  void checkCall(brew_status status) const {
    detail::CallbackError others = std::exchange(state->session->thrown, {});
    state->thrown.rethrow();
    others.rethrow();
    check(status);
  }
  void check(brew_status status) const {
    state->thrown.rethrow();
    detail::check(status, brew_learner_message(get()));
  }

  std::unique_ptr<State> state;
};

} // namespace brew::api
