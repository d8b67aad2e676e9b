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
namespace {

constexpr char kGroup[] = "Reinforcement learning";

/// Adds the options of all commands that play episodes.
void addEpisodeOptions(CLI::App &command, ReinforcementOptions &options) {
  command
      .add_option(
          "--env", options.environment,
          "Environment: cartpole, cartpole-v0, acrobot (as in Gymnasium) or "
          "cartpole-mycaffe, and its properties, e.g. "
          "cartpole:FailureReward=0")
      ->type_name("NAME[:KEY=VALUE;...]")
      ->group(kGroup);
  command
      .add_option(
          "--draw", options.drawFile,
          "Draw an episode without learning: an animated .gif, or a .png "
          "with pictures side by side")
      ->type_name("FILE")
      ->group(kGroup);
}

/// Environments, as many as the learner takes.
class Environments {
public:
  Environments(const std::string &name, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      opened.push_back(std::make_unique<api::BuiltInEnvironment>(name));
  }
  api::BuiltInEnvironment &first() { return *opened.front(); }
  std::vector<api::Environment *> all() const {
    std::vector<api::Environment *> result;
    for (const auto &environment : opened)
      result.push_back(environment.get());
    return result;
  }

private:
  std::vector<std::unique_ptr<api::BuiltInEnvironment>> opened;
};

void requireEnvironment(const ReinforcementOptions &options) {
  if (options.environment.empty())
    throw usage("reinforcement learning needs an environment: add --env "
                "cartpole");
}

/// Plays `episodes` episodes without learning, and draws the first one of
/// `environment` if --draw is set.
brew_evaluation play(const ReinforcementOptions &options, api::Learner &learner,
                     api::BuiltInEnvironment &environment,
                     std::int64_t episodes) {
  std::optional<api::EpisodeRecorder> recorder;
  if (!options.drawFile.empty())
    recorder.emplace(environment, options.drawFile);
  const brew_evaluation evaluation = learner.play(episodes);
  if (recorder) {
    recorder->finish();
    log::info(log::site::brew, "Drawn: " + options.drawFile);
  }
  return evaluation;
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

bool ReinforcementOptions::isRequested(const api::Options &options) const {
  return !environment.empty() || !drawFile.empty() || episodes || evaluate ||
         options.isSet("trainer") || options.isSet("trainer-properties") ||
         options.isSet("max-steps");
}

void addReinforcementOptions(CLI::App &command, ReinforcementOptions &options) {
  addEpisodeOptions(command, options);
  command
      .add_option("--episodes", options.episodes,
                  "Episodes to train for (default: until the solver's max_iter "
                  "updates)")
      ->check(atLeast(1))
      ->group(kGroup);
  command
      .add_option("--evaluate", options.evaluate,
                  "Episodes to play after training, without learning from them")
      ->check(atLeast(1))
      ->group(kGroup);
}

void addPlayOptions(CLI::App &command, ReinforcementOptions &options) {
  addEpisodeOptions(command, options);
}

void learn(const ReinforcementOptions &options, Session &session,
           api::Trainer &trainer, monitor::RunMonitor *page) {
  requireEnvironment(options);
  api::LearnerOptions learnerOptions;
  const std::size_t count =
      api::Learner::environmentCount(session, learnerOptions);
  Environments environments(options.environment, count),
      testEnvironments(options.environment, count);
  learnerOptions.environments = environments.all();
  learnerOptions.testEnvironments = testEnvironments.all();
  if (!options.drawFile.empty())
    checkRecorder(options.drawFile, testEnvironments.first());
  if (page) {
    environments.first().setObserver(
        [page](const brew_scene &scene) { page->onStep(scene); });
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
  if (options.evaluate || !options.drawFile.empty()) {
    const brew_evaluation evaluation =
        play(options, learner, testEnvironments.first(),
             std::max<std::int64_t>(1, options.evaluate));
    std::snprintf(
        text, sizeof text, "Evaluated: %lld episodes, mean reward = %.6g",
        static_cast<long long>(evaluation.episodes), evaluation.mean_reward);
    if (options.evaluate)
      log::info(log::site::brew, text);
  }
}

void testPolicy(const ReinforcementOptions &options, Session &session,
                const std::vector<std::string> &weights,
                const api::Options &sessionOptions, std::int64_t episodes) {
  requireEnvironment(options);
  // A learner needs a trainer, which does not train here.
  api::Options trainerOptions = {
      {"snapshot-interval", 0}, {"display", 0}, {"learner", true}};
  if (sessionOptions.isSet("random-seed"))
    trainerOptions.set("random-seed", sessionOptions.text("random-seed"));
  for (const std::string &files : weights)
    trainerOptions.set("weights", files);
  api::Trainer trainer(session, trainerOptions);
  api::LearnerOptions learnerOptions;
  Environments environments(options.environment, api::Learner::environmentCount(
                                                     session, learnerOptions));
  learnerOptions.environments = environments.all();
  if (!options.drawFile.empty())
    checkRecorder(options.drawFile, environments.first());
  api::Learner learner(session, trainer, learnerOptions);
  log::info(log::site::testRunning,
            "Playing " + std::to_string(episodes) + " episodes.");
  const brew_evaluation evaluation =
      play(options, learner, environments.first(), episodes);
  log::info(log::site::testScore,
            "reward = " + log::number(evaluation.mean_reward) + " (minimum " +
                log::number(evaluation.minimum_reward) + ", maximum " +
                log::number(evaluation.maximum_reward) + ")");
  log::info(log::site::testScore,
            "steps = " + log::number(evaluation.mean_steps));
}

} // namespace brew::run
