//===- PolicyGradient.cpp - MyCaffe's trainers PG.* -----------------------===//

#include "extras/reinforcement/PolicyGradient.h"

#include "extras/reinforcement/ParallelAgents.h"
#include "extras/reinforcement/Returns.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::reinforcement {
namespace {

/// Agent number in evaluation, so that its random numbers differ from training.
constexpr int kJudged = -1;

const Environment &first(const LearnerOptions &options) {
  return *options.environments.front();
}

} // namespace

void accumulateEpisode(GradientAccumulator &accumulator, Trajectory &trajectory,
                       const caffe::TrainerProperties &properties) {
  std::vector<double> returns = discountedReturns(
      trajectory.rewards, properties.gamma, properties.allowDiscountReset);
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
  const double most = episodes.front().end.reward,
               least = episodes.back().end.reward;
  const double cutoff = least + (1 - elitePercent) * (most - least);
  while (episodes.back().end.reward < cutoff)
    episodes.pop_back();
}

PolicyGradient::PolicyGradient(runtime::Trainer &solver,
                               runtime::Session &planSession,
                               LearnerOptions given,
                               caffe::TrainerProperties chosen)
    : Learner(solver, planSession, std::move(given), std::move(chosen)),
      policy(session, first(options).observationCount(),
             first(options).actionCount()),
      accumulator(session, first(options).observationCount(),
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
  if (properties.threads == 1)
    agent.restore(restoredState);
}

void PolicyGradient::update(double loss) {
  trainer.update();
  session.prepare(); // update the data that inference derives from weights
  lastLoss = loss;
  afterUpdate();
}

void PolicyGradient::runAlone() {
  const bool caches = properties.trainerType == "PG.MT";
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
    if (!caches)
      accumulateEpisode(accumulator, trajectory, properties);
    else
      cache.push_back(std::move(trajectory));
    reportEpisode(end);
    const bool full = log->count() % properties.miniBatch == 0;
    if (!caches) {
      if (!full)
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
      if (full && updatesDone())
        return;
      accumulateEpisode(accumulator, cache[i], properties);
      if (i + 1 < cache.size() && !full)
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
    return runAlone();
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

double PolicyGradient::evaluateEpisodes(std::int64_t count) {
  caffe::TrainerProperties judged = properties;
  judged.epsSteps = 0;
  Agent player(*options.environments.front(), judged, session.seed(), kJudged,
               options.maxSteps);
  double sum = 0;
  std::int64_t ended = 0;
  while (ended < count) {
    const Trajectory trajectory = player.play(
        [this](const std::vector<float> &state) {
          return policy.probabilities(state);
        },
        [this] { return isStopRequested(); }, [](const std::string &) {});
    if (trajectory.steps.empty())
      break;
    sum += trajectory.end.reward;
    ++ended;
  }
  return ended > 0 ? sum / static_cast<double>(ended) : 0;
}

} // namespace brew::reinforcement
