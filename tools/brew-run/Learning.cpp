//===- Learning.cpp - Training by what a net does -------------------------===//

#include "Learning.h"

#include "Log.h"

#include <cstdio>
#include <memory>

namespace brew::run {

void addLearningOptions(CLI::App &command, LearningOptions &options) {
  const std::string group = "Reinforcement learning";
  command
      .add_option("--trainer", options.trainer,
                  "PG.SIMPLE, PG.ST, PG.MT, PPO or A2C (default: TrainerType "
                  "of the solver's custom_trainer_properties)")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--env", options.environment,
                  "Where to act: cartpole, cartpole-v0 (Gymnasium's) or "
                  "cartpole-mycaffe")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--episodes", options.episodes,
                  "Episodes to train for (default: until the solver's max_iter "
                  "updates)")
      ->check(atLeast(1))
      ->group(group);
  command
      .add_option("--trainer-properties", options.properties,
                  "Over the solver's, e.g. 'MiniBatch=10;UseRawInput=True'")
      ->type_name("KEY=VALUE;...")
      ->group(group);
  command
      .add_option("--max-steps", options.maxSteps,
                  "Steps after which an episode is cut (default: the "
                  "environment's)")
      ->check(atLeast(1))
      ->group(group);
  command
      .add_option("--evaluate", options.evaluate,
                  "Episodes to play in the end, without learning from them")
      ->check(atLeast(1))
      ->group(group);
}

void learn(const LearningOptions &options, Session &session,
           api::Trainer &trainer) {
  if (options.environment.empty())
    throw usage("reinforcement learning needs an environment: --env cartpole");
  api::LearnerOptions chosen;
  chosen.trainer = options.trainer;
  chosen.properties = options.properties;
  chosen.maxSteps = options.maxSteps;
  const std::size_t count = api::Learner::environmentCount(session, chosen);
  std::vector<std::unique_ptr<api::BuiltInEnvironment>> environments;
  for (std::size_t i = 0; i < count; ++i) {
    environments.push_back(
        std::make_unique<api::BuiltInEnvironment>(options.environment));
    chosen.environments.push_back(environments.back().get());
  }
  api::Learner learner(session, trainer, chosen);
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
  if (options.evaluate) {
    std::snprintf(text, sizeof text,
                  "Evaluated: %lld episodes, mean reward = %.6g",
                  static_cast<long long>(options.evaluate),
                  learner.evaluate(options.evaluate));
    log::info(log::site::brew, text);
  }
}

} // namespace brew::run
