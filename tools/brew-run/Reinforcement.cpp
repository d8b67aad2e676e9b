//===- Reinforcement.cpp - Reinforcement learning -------------------------===//

#include "Reinforcement.h"

#include "Log.h"
#include "support/AtomicFile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace brew::run {

void addReinforcementOptions(CLI::App &command, ReinforcementOptions &options) {
  const std::string group = "Reinforcement learning";
  command
      .add_option("--trainer", options.trainer,
                  "PG.SIMPLE, PG.ST, PG.MT, PPO or A2C (default: TrainerType "
                  "of the solver's custom_trainer_properties)")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option(
          "--env", options.environment,
          "Environment: cartpole, cartpole-v0, acrobot (as in Gymnasium) or "
          "cartpole-mycaffe, and its properties, e.g. "
          "cartpole:FailureReward=0")
      ->type_name("NAME[:KEY=VALUE;...]")
      ->group(group);
  command
      .add_option("--episodes", options.episodes,
                  "Episodes to train for (default: until the solver's max_iter "
                  "updates)")
      ->check(atLeast(1))
      ->group(group);
  command
      .add_option("--trainer-properties", options.properties,
                  "Override the solver's custom_trainer_properties, e.g. "
                  "'MiniBatch=10;UseRawInput=True'")
      ->type_name("KEY=VALUE;...")
      ->group(group);
  command
      .add_option("--max-steps", options.maxSteps,
                  "Maximum steps of an episode (default: the environment's)")
      ->check(atLeast(1))
      ->group(group);
  command
      .add_option("--evaluate", options.evaluate,
                  "Episodes to play after training, without learning from them")
      ->check(atLeast(1))
      ->group(group);
  command
      .add_option("--draw", options.drawFile,
                  "Draw an episode after training: an animated .gif, or a .png "
                  "with pictures side by side")
      ->type_name("FILE")
      ->group(group);
}

namespace {

/// Evaluates the policy and draws the first episode of `environment`, as
/// requested by --evaluate and --draw.
void evaluatePolicy(const ReinforcementOptions &options, api::Learner &learner,
                    api::BuiltInEnvironment &environment) {
  std::optional<api::EpisodeRecorder> recorder;
  if (!options.drawFile.empty())
    recorder.emplace(environment, options.drawFile);
  const double reward =
      learner.evaluate(std::max<std::int64_t>(1, options.evaluate));
  char text[200];
  if (options.evaluate) {
    std::snprintf(text, sizeof text,
                  "Evaluated: %lld episodes, mean reward = %.6g",
                  static_cast<long long>(options.evaluate), reward);
    log::info(log::site::brew, text);
  }
  if (recorder) {
    recorder->finish();
    log::info(log::site::brew, "Drawn: " + options.drawFile);
  }
}

/// Checks before training that the file can be drawn and written.
void checkRecorder(const std::string &path,
                   api::BuiltInEnvironment &environment) {
  const api::EpisodeRecorder recorder(environment, path);
  const std::filesystem::path folder =
      std::filesystem::absolute(path).parent_path();
  if (std::error_code ignored; !std::filesystem::is_directory(folder, ignored))
    throw unavailable("--draw " + path + ": there is no folder " +
                      folder.string());
  requireWritable(path);
}

} // namespace

void learn(const ReinforcementOptions &options, Session &session,
           api::Trainer &trainer, monitor::RunMonitor *page) {
  if (options.environment.empty())
    throw usage("reinforcement learning needs an environment: add --env "
                "cartpole");
  api::LearnerOptions learnerOptions;
  learnerOptions.trainer = options.trainer;
  learnerOptions.properties = options.properties;
  learnerOptions.maxSteps = options.maxSteps;
  const std::size_t count =
      api::Learner::environmentCount(session, learnerOptions);
  std::vector<std::unique_ptr<api::BuiltInEnvironment>> environments;
  for (std::size_t i = 0; i < count; ++i) {
    environments.push_back(
        std::make_unique<api::BuiltInEnvironment>(options.environment));
    learnerOptions.environments.push_back(environments.back().get());
  }
  api::BuiltInEnvironment &first = *environments.front();
  if (!options.drawFile.empty())
    checkRecorder(options.drawFile, first);
  if (page) {
    first.setObserver([page](const brew_scene &scene) { page->onStep(scene); });
    learnerOptions.episode = [page](int, double reward, std::int64_t,
                                    const brew_learning_progress &progress) {
      page->onEpisode(reward, progress);
    };
  }
  api::Learner learner(session, trainer, learnerOptions);
  learner.train(options.episodes);
  const brew_learning_progress progress = learner.progress();
  char text[200];
  std::snprintf(text, sizeof text,
                "Learning done: %lld episodes of %lld steps, %d updates, mean "
                "reward of the last 100 = %.6g",
                static_cast<long long>(progress.episodes),
                static_cast<long long>(progress.steps), trainer.iteration(),
                progress.mean_reward);
  log::info(log::site::brew, text);
  if (page) {
    page->onReinforcementDone();
    first.setObserver({});
  }
  if (options.evaluate || !options.drawFile.empty())
    evaluatePolicy(options, learner, first);
}

} // namespace brew::run
