//===- PolicyGradient.cpp - MyCaffe's trainers PG.* -----------------------===//

#include "extras/reinforcement/PolicyGradient.h"

#include "extras/reinforcement/ParallelAgents.h"
#include "extras/reinforcement/Returns.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::reinforcement {
namespace {

/// Number of the agent that evaluates. It differs from the numbers of training
/// agents, so evaluation draws other random numbers.
constexpr int kEvaluationAgent = -1;

const Environment &firstEnvironment(const LearnerOptions &options) {
  return *options.environments.front();
}

} // namespace

void accumulateEpisode(GradientAccumulator &accumulator, Trajectory &trajectory,
                       const caffe::TrainerProperties &properties) {
  std::vector<double> returns = discountedReturns(
      trajectory.rewards, properties.gamma, properties.allowDiscountReset);
  if (properties.standardizeAdvantage)
    standardise(returns);
  for (std::size_t t = 0; t < trajectory.steps.size(); ++t) {
    GradientAccumulator::Step &step = trajectory.steps[t];
    step.advantage = returns[t];
    step.weight = 1 / static_cast<double>(trajectory.steps.size());
    accumulator.add(step);
  }
}

void selectElite(std::vector<Trajectory> &episodes, double elitePercent) {
  if (elitePercent <= 0 || elitePercent >= 1 || episodes.empty())
    return;
  std::stable_sort(episodes.begin(), episodes.end(),
                   [](const Trajectory &a, const Trajectory &b) {
                     return a.end.reward > b.end.reward;
                   });
  const double highest = episodes.front().end.reward,
               lowest = episodes.back().end.reward;
  const double cutoff = lowest + (1 - elitePercent) * (highest - lowest);
  while (episodes.back().end.reward < cutoff)
    episodes.pop_back();
}

PolicyGradient::PolicyGradient(runtime::Trainer &solver,
                               runtime::Session &planSession,
                               LearnerOptions learnerOptions,
                               caffe::TrainerProperties trainerProperties)
    : Learner(solver, planSession, std::move(learnerOptions),
              std::move(trainerProperties)),
      policy(session, firstEnvironment(options).observationCount(),
             firstEnvironment(options).actionCount()),
      accumulator(session, firstEnvironment(options).observationCount(),
                  {[this] { trainer.forward(); },
                   [this] {
                     trainer.backward();
                     trainer.accumulate();
                   }}),
      agent(*options.environments.front(), properties, session.seed(), 0,
            options.maxSteps) {
  if (properties.trainerType == "PG.SIMPLE" && policy.logitCount() != 1)
    throw badInput("PG.SIMPLE trains nets with one logit (sigmoid), and this "
                   "net has " +
                   std::to_string(policy.logitCount()) +
                   "; use PG.ST or PG.MT (softmax)");
  if (properties.threads != static_cast<int>(options.environments.size()))
    throw usageError(properties.trainerType +
                     " takes one environment for each agent: " +
                     std::to_string(properties.threads) + ", not " +
                     std::to_string(options.environments.size()));
  if (properties.miniBatch == 0)
    properties.miniBatch = static_cast<int>(accumulator.batchSize());
  if (properties.threads == 1)
    agent.restore(restoredState);
}

void PolicyGradient::update(double loss) {
  trainer.update();
  session.prepare(); // update the data that inference derives from weights
  lastLoss = loss;
  afterUpdate();
}

void PolicyGradient::runSingleAgent() {
  const bool cachesEpisodes = properties.trainerType == "PG.MT";
  std::vector<Trajectory> cache;
  while (!shouldEnd()) {
    Trajectory trajectory = agent.play(
        [this](const std::vector<float> &state) {
          return policy.probabilities(state);
        },
        [this] { return interrupted(); },
        [this](const std::string &line) {
          session.events().info(log::site::brew, line);
        });
    if (trajectory.steps.empty())
      return;
    const EpisodeSummary end = trajectory.end;
    if (!cachesEpisodes)
      accumulateEpisode(accumulator, trajectory, properties);
    else
      cache.push_back(std::move(trajectory));
    reportEpisode(end);
    const bool isMiniBatchComplete = log->count() % properties.miniBatch == 0;
    if (!cachesEpisodes) {
      if (!isMiniBatchComplete)
        continue;
      accumulator.flush();
      setSnapshotState(agent.save());
      update(accumulator.takeLoss());
      continue;
    }
    if (static_cast<int>(cache.size()) < properties.episodeBatchSize)
      continue;
    selectElite(cache, properties.episodeElitePercent);
    for (std::size_t i = 0; i < cache.size(); ++i) {
      if (isMiniBatchComplete && updatesDone())
        return;
      accumulateEpisode(accumulator, cache[i], properties);
      if (i + 1 < cache.size() && !isMiniBatchComplete)
        continue;
      accumulator.flush();
      setSnapshotState(agent.save());
      update(accumulator.takeLoss());
    }
    cache.clear();
  }
}

void PolicyGradient::restart() {
  accumulator.discard();
  agent.restart();
  if (properties.threads == 1)
    agent.restore(restoredState);
}

void PolicyGradient::run() {
  if (properties.threads == 1)
    return runSingleAgent();
  ParallelAgents agents(
      session, options, properties, restoredState,
      {[this] { return shouldEnd(); },
       [this](const EpisodeSummary &episode) { reportEpisode(episode); },
       [this](double loss, const std::vector<double> &savedStates) {
         trainer.useCallerGradients(loss);
         setSnapshotState(savedStates);
         restoredState = savedStates; // the next call continues from here
         update(loss);
       }});
  agents.run();
}

Evaluation PolicyGradient::evaluateEpisodes(std::int64_t count) {
  caffe::TrainerProperties evaluationProperties = properties;
  evaluationProperties.epsSteps = 0;
  Agent player(*evaluationEnvironments().front(), evaluationProperties,
               session.seed(), kEvaluationAgent, options.maxSteps);
  Evaluation evaluation;
  while (evaluation.episodes < count) {
    const Trajectory trajectory = player.play(
        [this](const std::vector<float> &state) {
          return policy.probabilities(state);
        },
        [this] { return isStopRequested(); }, [](const std::string &) {});
    if (trajectory.steps.empty())
      break;
    evaluation.add(trajectory.end.reward, trajectory.end.steps);
  }
  return evaluation;
}

} // namespace brew::reinforcement
