//===- EpisodeStatistics.h - Statistics of episodes -------------*- C++ -*-===//
#pragma once

#include "caffe/TrainerProperties.h"
#include "runtime/events/Events.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace brew::reinforcement {

/// The summary of a finished episode.
struct EpisodeSummary {
  int agent = 0;
  std::int64_t steps = 0;
  double reward = 0;
  double entropy = 0; ///< of the policy, mean over the steps
};

/// Counts and averages episodes, and logs them.
class EpisodeStatistics {
public:
  /// `actions`: the number of actions. Logs a line every `display` episodes (0:
  /// never).
  EpisodeStatistics(runtime::Events &events,
                    const caffe::TrainerProperties &properties, int actions,
                    int display);

  /// Adds an episode, after `iteration` updates, and emits it. `loss` and the
  /// learning rate `rate` are only logged.
  void add(const EpisodeSummary &episode, int iteration, double loss,
           double rate);
  /// Returns an empty copy with the same settings.
  EpisodeStatistics emptyCopy() const;

  std::int64_t count() const { return episodes; }
  std::int64_t steps() const { return allSteps; }
  /// Returns the exponential moving average of the reward with factor 0.99.
  double running() const { return runningReward; }
  double maximum() const { return maximumReward; }
  /// Returns the mean reward of the last (up to) 100 episodes.
  double meanReward() const;
  double meanEntropy() const;
  /// Returns whether the entropy of the last episodes is near 0, so that the
  /// policy no longer explores.
  bool collapsed() const { return isCollapsed; }

  /// Returns the complete state as numbers, for snapshots.
  std::vector<double> save() const;
  /// Restores a result of save(). Ignores lists that are too short.
  void restore(const std::vector<double> &values);

private:
  void watchEntropy();
  double displayedReward(double reward) const;

  runtime::Events *events;
  caffe::TrainerProperties::Reward rewardType;
  double maxEntropy;
  int display;
  std::int64_t episodes = 0, allSteps = 0;
  double runningReward = 0, maximumReward = 0;
  std::deque<double> rewards, entropies; ///< of the last episodes, oldest first
  bool isCollapsed = false;
};

} // namespace brew::reinforcement
