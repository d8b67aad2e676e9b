//===- EpisodeMetrics.cpp - Metrics of reinforcement learning -------------===//

#include "runtime/train/metrics/EpisodeMetrics.h"

#include <string_view>

namespace brew::runtime {

std::vector<OutputValue> episodeMetrics(const event::EpisodeDone &episode) {
  return {{"reward", episode.reward, 0},
          {"running_reward", episode.runningReward, 0},
          {"mean_reward", episode.meanReward, 0},
          {"maximum_reward", episode.maximumReward, 0},
          {"entropy", episode.entropy, 0},
          {"steps", double(episode.steps), 0},
          {"count", double(episode.episodes), 0}};
}

bool isReward(const std::string &name) {
  constexpr std::string_view reward = "reward";
  return name.size() >= reward.size() &&
         name.compare(name.size() - reward.size(), reward.size(), reward) == 0;
}

} // namespace brew::runtime
