//===- EpisodeMetrics.h - Metrics of reinforcement learning -----*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// Returns the values of an episode, named as in `episode.NAME` (MetricName.h).
std::vector<OutputValue> episodeMetrics(const event::EpisodeDone &episode);

/// Outputs of a test that plays episodes: means over the episodes.
inline constexpr char kTestReward[] = "reward", kTestSteps[] = "steps";

/// Returns whether the metric of this name is a reward, for which higher is
/// better.
bool isReward(const std::string &name);

} // namespace brew::runtime
