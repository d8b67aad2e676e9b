//===- Agent.h - Player of episodes by a policy -----------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"
#include "caffe/TrainerProperties.h"
#include "extras/reinforcement/Environment.h"
#include "extras/reinforcement/EpisodeStatistics.h"
#include "extras/reinforcement/PolicyNetwork.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::reinforcement {

/// The steps, rewards and summary of an episode.
struct Trajectory {
  std::vector<GradientAccumulator::Step> steps; ///< without advantages
  std::vector<double> rewards;
  EpisodeSummary end;
};

/// Plays episodes in one environment.
class Agent {
public:
  /// All random numbers are a function of the seed, `number`, the episode and
  /// the step.
  Agent(Environment &environment, const caffe::TrainerProperties &properties,
        std::uint64_t seed, int number, std::int64_t maxSteps);

  /// Returns the probabilities of the actions in a state.
  using PolicyFunction =
      std::function<Distribution(const std::vector<float> &)>;
  /// Called before each step. If it returns true, the episode is aborted and
  /// its trajectory has no steps.
  using Cancelled = std::function<bool()>;
  using Line = std::function<void(const std::string &)>;
  /// Plays the next episode. `line` receives the output of ShowActionProb.
  Trajectory play(const PolicyFunction &probabilities,
                  const Cancelled &cancelled, const Line &line);

  /// Returns the state between two episodes: 2 + observationCount() numbers.
  std::vector<double> save() const;
  /// Restores a result of save(). Ignores lists of another length.
  void restore(const std::vector<double> &values);
  /// Returns to the first episode.
  void restart();

private:
  std::vector<float> networkInput(const std::vector<float> &state);

  Environment &environment;
  const caffe::TrainerProperties &properties;
  caffe::RandomStream starts, draws;
  int number;
  std::int64_t maxSteps;
  std::vector<float> lastState; ///< previous state; empty: none yet
  std::vector<float> low, high;
  std::int64_t nextEpisode = 0;
};

} // namespace brew::reinforcement
