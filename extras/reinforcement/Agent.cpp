//===- Agent.cpp - Player of episodes by a policy -------------------------===//

#include "extras/reinforcement/Agent.h"

#include "extras/reinforcement/SavedCount.h"
#include "runtime/log/Log.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::reinforcement {
namespace {

/// Random numbers per step: the action, whether to explore, the explored
/// action.
constexpr std::uint64_t kDrawsPerStep = 4;
/// The first 2^kStepBits steps of an episode have distinct random numbers.
constexpr int kStepBits = 32;

} // namespace

Agent::Agent(Environment &agentEnvironment,
             const caffe::TrainerProperties &trainerProperties,
             std::uint64_t seed, int agent, std::int64_t steps)
    : environment(agentEnvironment), properties(trainerProperties),
      starts(seed, "episodes of agent " + std::to_string(agent)),
      draws(seed, "actions of agent " + std::to_string(agent)), number(agent),
      maxSteps(steps), low(agentEnvironment.low()),
      high(agentEnvironment.high()) {
  const auto count = static_cast<std::size_t>(environment.observationCount());
  if (properties.normalizeInput &&
      (low.size() != count || high.size() != count))
    throw usageError("NormalizeInput needs the bounds of observations, which "
                     "the environment '" +
                     environment.name() + "' does not report");
  for (std::size_t i = 0; properties.normalizeInput && i < count; ++i)
    if (!(high[i] > low[i]) || !std::isfinite(high[i] - low[i]))
      throw usageError("NormalizeInput needs a finite range of each "
                       "observation: the range of number " +
                       std::to_string(i) + " of the environment '" +
                       environment.name() + "' is from " + log::number(low[i]) +
                       " to " + log::number(high[i]));
}

/// Returns the net's input for a state: the state itself (UseRawInput), or its
/// difference from the previous one, across episodes too, as in MyCaffe.
std::vector<float> Agent::networkInput(const std::vector<float> &raw) {
  std::vector<float> state = raw;
  if (properties.normalizeInput)
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = (state[i] - low[i]) / (high[i] - low[i]);
  if (properties.useRawInput)
    return state;
  std::vector<float> difference(state.size());
  for (std::size_t i = 0; i < state.size() && !lastState.empty(); ++i)
    difference[i] = state[i] - lastState[i];
  lastState = state;
  return difference;
}

std::vector<double> Agent::save() const {
  std::vector<double> values = {static_cast<double>(nextEpisode),
                                static_cast<double>(!lastState.empty())};
  values.insert(values.end(), lastState.begin(), lastState.end());
  values.resize(2 + static_cast<std::size_t>(environment.observationCount()));
  return values;
}

void Agent::restart() {
  nextEpisode = 0;
  lastState.clear();
}

void Agent::restore(const std::vector<double> &values) {
  if (values.size() !=
      2 + static_cast<std::size_t>(environment.observationCount()))
    return; // saved by another kind of learner
  nextEpisode = savedCount(values[0]);
  lastState.clear();
  if (values[1] != 0)
    lastState.assign(values.begin() + 2, values.end());
}

Trajectory Agent::play(const PolicyFunction &probabilities,
                       const Cancelled &cancelled, const Line &line) {
  Trajectory trajectory;
  trajectory.end.agent = number;
  std::vector<float> state(
      static_cast<std::size_t>(environment.observationCount()));
  const auto episode = static_cast<std::uint64_t>(nextEpisode);
  const caffe::RandomBlock start = starts.block(episode);
  // 31 bits: a seed that every environment accepts.
  environment.reset(start[0] >> 1, state.data());
  const double explorationRate = properties.exploration(nextEpisode);
  const std::vector<float> lastStateBefore = lastState;
  double entropy = 0;
  for (std::uint64_t t = 0;; ++t) {
    if (cancelled()) {
      lastState = lastStateBefore; // the episode will be replayed
      return {};
    }
    GradientAccumulator::Step step;
    step.observation = networkInput(state);
    step.probabilities = probabilities(step.observation);
    entropy += entropyOf(step.probabilities);
    const std::uint64_t firstDraw =
        ((episode << kStepBits) + t) * kDrawsPerStep;
    if (explorationRate > 0 && draws.uniform(firstDraw + 1) < explorationRate) {
      step.action = static_cast<int>(
          draws.below(firstDraw + 2,
                      static_cast<std::uint64_t>(environment.actionCount())));
      // With one logit the step contributes no gradient: the gradient is the
      // difference from these probabilities.
      std::fill(step.probabilities.begin(), step.probabilities.end(), 0);
      step.probabilities[static_cast<std::size_t>(step.action)] = 1;
    } else {
      step.action = sample(step.probabilities, draws.uniform(firstDraw));
    }
    if (properties.showActionProb && properties.verbose) {
      std::string text = "Action Prob:";
      for (double probability : step.probabilities)
        text += " " + log::number(probability);
      line(text + " -> " + std::to_string(step.action));
    }
    const StepResult outcome = environment.step(step.action, state.data());
    trajectory.end.reward += outcome.reward;
    trajectory.rewards.push_back(outcome.reward);
    trajectory.steps.push_back(std::move(step));
    const auto steps = static_cast<std::int64_t>(t) + 1;
    if (!outcome.ended() && !(maxSteps && steps >= maxSteps))
      continue;
    trajectory.end.steps = steps;
    trajectory.end.entropy = entropy / static_cast<double>(steps);
    ++nextEpisode;
    return trajectory;
  }
}

} // namespace brew::reinforcement
