//===- Agent.h - Plays episodes by a policy ---------------------*- C++ -*-===//
#pragma once

#include "caffe/TrainerProperties.h"
#include "caffe/RandomStream.h"
#include "extras/reinforcement/Environment.h"
#include "extras/reinforcement/EpisodeStatistics.h"
#include "extras/reinforcement/PolicyNetwork.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::reinforcement {

/// What happened in an episode.
struct Trajectory {
  std::vector<GradientAccumulator::Step> steps; ///< without advantages
  std::vector<double> rewards;
  EpisodeSummary end;
};

class Agent {
public:
  /// Everything it draws is a function of the seed, its number, the episode and
  /// the step.
  Agent(Environment &environment, const caffe::TrainerProperties &properties,
        std::uint64_t seed, int number, std::int64_t maxSteps);

  /// Asked for the probabilities of actions in a state.
  using PolicyFunction = std::function<Distribution(const std::vector<float> &)>;
  /// Asked before each step whether to give up; the episode then has no steps.
  using Cancelled = std::function<bool()>;
  using Line = std::function<void(const std::string &)>;
  /// Plays the next episode. `line` takes what ShowActionProb shows.
  Trajectory play(const PolicyFunction &probabilities, const Cancelled &cancelled,
              const Line &line);

  /// Where it stands, as numbers, between two episodes: always as many.
  std::vector<double> save() const;
  void restore(const std::vector<double> &values);
  /// Back to the first episode.
  void restart();

private:
  std::vector<float> prepared(const std::vector<float> &state);

  Environment &environment;
  const caffe::TrainerProperties &properties;
  caffe::RandomStream starts, draws;
  int number;
  std::int64_t maxSteps;
  std::vector<float> last; ///< state; empty: none yet
  std::vector<float> low, high;
  std::int64_t next = 0;
};

} // namespace brew::reinforcement
