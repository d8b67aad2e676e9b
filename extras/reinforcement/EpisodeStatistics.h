//===- EpisodeStatistics.h - What is known of the episodes so far --------*- C++ -*-===//
#pragma once

#include "caffe/TrainerProperties.h"
#include "runtime/events/Events.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace brew::reinforcement {

/// One episode, as it ended.
struct EpisodeSummary {
  int agent = 0;
  std::int64_t steps = 0;
  double reward = 0;
  double entropy = 0; ///< mean of its steps' policies
};

/// Counts and averages episodes, and logs them.
class EpisodeStatistics {
public:
  /// `actions`: how many the policy chooses from. One line for every `display`
  /// episodes (0: none).
  EpisodeStatistics(runtime::Events &events, const caffe::TrainerProperties &properties,
           int actions, int display);

  void add(const EpisodeSummary &episode, double loss, double rate);
  /// One that has counted nothing yet.
  EpisodeStatistics emptyCopy() const;

  std::int64_t count() const { return episodes; }
  std::int64_t steps() const { return allSteps; }
  /// 0.99 of what it was, 0.01 of the last one.
  double running() const { return runningReward; }
  double maximum() const { return maximumReward; }
  /// Of the last (up to) 100.
  double meanReward() const;
  double meanEntropy() const;
  /// Entropy near 0 over the last episodes: nothing new is tried any more.
  bool collapsed() const { return isCollapsed; }

  /// All of it as numbers, for snapshots.
  std::vector<double> save() const;
  void restore(const std::vector<double> &values);

private:
  void watchEntropy();
  double shown(double reward) const;

  runtime::Events *events;
  caffe::TrainerProperties::Reward rewardType;
  double mostEntropy;
  int display;
  std::int64_t episodes = 0, allSteps = 0;
  double runningReward = 0, maximumReward = 0;
  std::deque<double> rewards, entropies; ///< of the last ones, oldest first
  bool isCollapsed = false;
};

} // namespace brew::reinforcement
