//===- Api.cpp - C API of reinforcement learning --------------------------===//

#include "extras/reinforcement/CallersEnvironment.h"
#include "extras/reinforcement/EpisodeRecorder.h"
#include "extras/reinforcement/Learner.h"
#include "extras/reinforcement/ObservedEnvironment.h"
#include "runtime/api/Handles.h"
#include "runtime/api/TrainerHandle.h"

#include <brew/reinforcement.h>

using namespace brew;
using namespace brew::api;
namespace learn = brew::reinforcement;

struct brew_environment {
  Message message;
  std::unique_ptr<reinforcement::ObservedEnvironment> environment;
  int observer = -1; ///< number of the caller's observer; -1: none

  reinforcement::ObservedEnvironment &get() const {
    if (!environment)
      throw usage("the environment could not be opened");
    return *environment;
  }
};

struct brew_episode_recorder {
  Message message;
  std::unique_ptr<reinforcement::EpisodeRecorder> recorder;
};

struct brew_learner {
  Message message;
  std::unique_ptr<reinforcement::Learner> learner;
  const runtime::Session *session = nullptr; ///< of `learner`

  reinforcement::Learner &get() const {
    if (!learner)
      throw usage("the learner could not be opened");
    return *learner;
  }
};

namespace {

template <typename Body>
brew_status guardedCall(brew_environment *handle, Body &&body) {
  if (!handle)
    return BREW_USAGE;
  return guarded(handle->message, [&] { body(handle->get()); });
}

template <typename Body>
brew_status guardedCall(brew_learner *handle, Body &&body) {
  if (!handle)
    return BREW_USAGE;
  return guarded(handle->message, [&] { body(handle->get()); });
}

/// The same for calls that run nets, which functions of hooks may not make.
template <typename Body>
brew_status guardedRun(brew_learner *handle, Body &&body) {
  return guardedCall(handle, [&](reinforcement::Learner &learner) {
    refuseInHook(*handle->session);
    body(learner);
  });
}

brew_episode_state stateOf(const reinforcement::StepResult &outcome) {
  return outcome.terminated  ? BREW_EPISODE_TERMINATED
         : outcome.truncated ? BREW_EPISODE_TRUNCATED
                             : BREW_EPISODE_RUNNING;
}

brew_learning_progress
progressOf(const reinforcement::EpisodeStatistics &episodes) {
  brew_learning_progress progress{};
  progress.struct_size = sizeof progress;
  progress.episodes = episodes.count();
  progress.steps = episodes.steps();
  progress.running_reward = episodes.running();
  progress.mean_reward = episodes.meanReward();
  progress.maximum_reward = episodes.maximum();
  progress.mean_entropy = episodes.meanEntropy();
  progress.collapsed = episodes.collapsed();
  return progress;
}

/// Returns the caller's options; an option that the caller has not set has the
/// session's value.
reinforcement::LearnerOptions
optionsOf(const runtime::Session &session,
          const brew_learner_options &callerOptions) {
  const runtime::LearnerSettings &settings = session.learnerSettings();
  reinforcement::LearnerOptions options;
  options.trainer = settings.trainer;
  options.properties = settings.properties;
  if (callerOptions.trainer)
    options.trainer = callerOptions.trainer;
  if (callerOptions.properties)
    options.properties = callerOptions.properties;
  if (callerOptions.max_steps < 0)
    throw usage("the number of steps of an episode is negative");
  options.maxSteps =
      callerOptions.max_steps ? callerOptions.max_steps : settings.maxSteps;
  return options;
}

} // namespace

//===----------------------------------------------------------------------===//
// Environments
//===----------------------------------------------------------------------===//

brew_status brew_environment_create(const brew_environment_functions *functions,
                                    brew_environment **environment) {
  return api::open(environment, [&](brew_environment &handle) {
    if (!functions)
      throw usage("there are no functions");
    handle.environment = std::make_unique<reinforcement::ObservedEnvironment>(
        std::make_unique<reinforcement::CallersEnvironment>(
            copyFromCaller(functions)));
  });
}

brew_status brew_environment_open(const char *name,
                                  brew_environment **environment) {
  return api::open(environment, [&](brew_environment &handle) {
    handle.environment = std::make_unique<reinforcement::ObservedEnvironment>(
        reinforcement::makeEnvironment(text(name, "the environment's name")));
  });
}

const char *brew_environment_message(const brew_environment *environment) {
  return environment ? environment->message.text() : Message::outOfMemory();
}

void brew_environment_destroy(brew_environment *environment) {
  delete environment;
}

int64_t
brew_environment_observation_count(const brew_environment *environment) {
  return environment && environment->environment
             ? environment->environment->observationCount()
             : 0;
}

int brew_environment_action_count(const brew_environment *environment) {
  return environment && environment->environment
             ? environment->environment->actionCount()
             : 0;
}

brew_status brew_environment_reset(brew_environment *environment, uint64_t seed,
                                   float *observation) {
  return guardedCall(environment, [&](reinforcement::Environment &target) {
    if (!observation)
      throw usage("the pointer to the observation is NULL");
    target.reset(seed, observation);
  });
}

brew_status brew_environment_step(brew_environment *environment, int action,
                                  float *observation, double *reward,
                                  brew_episode_state *state) {
  return guardedCall(environment, [&](reinforcement::Environment &target) {
    if (!observation)
      throw usage("the pointer to the observation is NULL");
    if (action < 0 || action >= target.actionCount())
      throw usage("there is no action " + std::to_string(action) +
                  ": the environment has " +
                  std::to_string(target.actionCount()));
    const reinforcement::StepResult outcome = target.step(action, observation);
    if (reward)
      *reward = outcome.reward;
    if (state)
      *state = stateOf(outcome);
  });
}

brew_status brew_environment_set_observer(brew_environment *environment,
                                          brew_scene_function function,
                                          void *user) {
  return guardedCall(
      environment, [&](reinforcement::ObservedEnvironment &target) {
        target.remove(environment->observer);
        environment->observer = -1;
        if (!function)
          return;
        const std::int64_t count = target.observationCount();
        environment->observer =
            target.add([=](const reinforcement::EnvironmentState &state) {
              brew_scene scene{};
              scene.struct_size = sizeof scene;
              scene.step = state.step;
              scene.action = state.action;
              scene.state = stateOf(state.last);
              scene.reward = state.reward;
              scene.observation = state.observation;
              scene.observation_count = count;
              function(&scene, user);
            });
      });
}

brew_status
brew_episode_recorder_open(brew_environment *environment, const char *path,
                           const brew_episode_recorder_options *options,
                           brew_episode_recorder **recorder) {
  return api::open(recorder, [&](brew_episode_recorder &handle) {
    if (!environment)
      throw usage("there is no environment");
    const brew_episode_recorder_options callerOptions = copyFromCaller(options);
    reinforcement::EpisodeRecorderOptions convertedOptions;
    for (const auto &[from, to] :
         {std::pair(callerOptions.width, &convertedOptions.width),
          std::pair(callerOptions.height, &convertedOptions.height),
          std::pair(callerOptions.steps, &convertedOptions.steps),
          std::pair(callerOptions.pictures, &convertedOptions.pictures)})
      if (from)
        *to = from;
    handle.recorder = std::make_unique<reinforcement::EpisodeRecorder>(
        environment->get(), text(path, "the recorder's path"),
        convertedOptions);
  });
}

const char *
brew_episode_recorder_message(const brew_episode_recorder *recorder) {
  return recorder ? recorder->message.text() : Message::outOfMemory();
}

brew_status brew_episode_recorder_finish(brew_episode_recorder *recorder) {
  if (!recorder)
    return BREW_USAGE;
  return guarded(recorder->message, [&] {
    if (!recorder->recorder)
      throw usage("the recorder could not be opened, or is finished");
    const std::unique_ptr<reinforcement::EpisodeRecorder> finished =
        std::move(recorder->recorder);
    finished->finish();
  });
}

void brew_episode_recorder_destroy(brew_episode_recorder *recorder) {
  delete recorder;
}

//===----------------------------------------------------------------------===//
// Learners
//===----------------------------------------------------------------------===//

brew_status brew_learner_environment_count(brew_session *session,
                                           const brew_learner_options *options,
                                           size_t *count, char *message,
                                           size_t size) {
  return guardedInto(message, size, [&] {
    if (!session || !count)
      throw usage("the session or the pointer to the number is NULL");
    *count = static_cast<size_t>(reinforcement::environmentCount(
        session->get(), optionsOf(session->get(), copyFromCaller(options))));
  });
}

brew_status brew_learner_open(brew_session *session, brew_trainer *trainer,
                              const brew_learner_options *options,
                              brew_learner **learner) {
  return api::open(learner, [&](brew_learner &handle) {
    if (!session || !trainer)
      throw usage("there is no session, or no trainer");
    const brew_learner_options callerOptions = copyFromCaller(options);
    reinforcement::LearnerOptions convertedOptions =
        optionsOf(session->get(), callerOptions);
    if (callerOptions.environment_count && !callerOptions.environments)
      throw usage("the environments are NULL");
    for (size_t i = 0; i < callerOptions.environment_count; ++i) {
      if (!callerOptions.environments[i])
        throw usage("an environment is NULL");
      convertedOptions.environments.push_back(
          &callerOptions.environments[i]->get());
    }
    for (size_t i = 0;
         callerOptions.test_environments && i < callerOptions.environment_count;
         ++i) {
      if (!callerOptions.test_environments[i])
        throw usage("a test environment is NULL");
      convertedOptions.testEnvironments.push_back(
          &callerOptions.test_environments[i]->get());
    }
    if (callerOptions.episode)
      convertedOptions.episode =
          [function = callerOptions.episode, user = callerOptions.episode_user](
              const reinforcement::EpisodeSummary &end,
              const reinforcement::EpisodeStatistics &episodes) {
            const brew_learning_progress progress = progressOf(episodes);
            function(end.agent, end.reward, end.steps, &progress, user);
          };
    handle.session = &session->get();
    handle.learner = reinforcement::makeLearner(trainer->get(), session->get(),
                                                std::move(convertedOptions));
  });
}

const char *brew_learner_message(const brew_learner *learner) {
  return learner ? learner->message.text() : Message::outOfMemory();
}

void brew_learner_destroy(brew_learner *learner) { delete learner; }

brew_status brew_learner_train(brew_learner *learner, int64_t episodes) {
  return guardedRun(learner, [&](reinforcement::Learner &target) {
    if (episodes < 0)
      throw usage("the number of episodes is negative");
    target.train(episodes);
  });
}

brew_status brew_learner_evaluate(brew_learner *learner, int64_t episodes,
                                  double *mean_reward) {
  return guardedRun(learner, [&](reinforcement::Learner &target) {
    if (episodes < 1)
      throw usage("the number of episodes is not positive");
    const double mean = target.evaluate(episodes).meanReward;
    if (mean_reward)
      *mean_reward = mean;
  });
}

brew_status brew_learner_play(brew_learner *learner, int64_t episodes,
                              brew_evaluation *evaluation) {
  return guardedRun(learner, [&](reinforcement::Learner &target) {
    if (episodes < 1)
      throw usage("the number of episodes is not positive");
    const reinforcement::Evaluation played = target.evaluate(episodes);
    brew_evaluation result{};
    result.struct_size = sizeof result;
    result.episodes = played.episodes;
    result.mean_reward = played.meanReward;
    result.minimum_reward = played.minimumReward;
    result.maximum_reward = played.maximumReward;
    result.mean_steps = played.meanSteps;
    copyToCaller(evaluation, result);
  });
}

brew_status brew_learner_get_progress(const brew_learner *learner,
                                      brew_learning_progress *progress) {
  return guardedInto(nullptr, 0, [&] {
    if (!learner)
      throw usage("there is no learner");
    copyToCaller(progress, progressOf(learner->get().episodes()));
  });
}
