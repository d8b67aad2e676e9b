//===- ReinforcementView.cpp - Reinforcement learning on the page ---------===//

#include "tools/monitor/ReinforcementView.h"

#include <algorithm>
#include <cmath>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

/// Cart-Pole: a step lasts 20 ms; at most 10 s of an episode are recorded.
constexpr std::chrono::milliseconds kStep(20), kLeastPause(1000);
constexpr std::size_t kMostSteps = 500;
/// Indices of the drawn observations: position of the cart, angle of the pole.
constexpr std::int64_t kPlace = 0, kAngle = 2;

double rounded(float value) { return std::round(double(value) * 1e4) / 1e4; }

} // namespace

ReinforcementView::ReinforcementView(Broadcast &to, std::string name,
                                     std::int64_t episodes)
    : broadcast(to), environment(std::move(name)), episodeLimit(episodes) {}

void ReinforcementView::add(double reward,
                            const brew_learning_progress &progress) {
  now = progress;
  rewardSum += reward;
  ++rewards;
}

ReinforcementView::Points ReinforcementView::takePoints() {
  if (!rewards)
    return {};
  const double mean = rewardSum / static_cast<double>(rewards);
  rewardSum = 0;
  rewards = 0;
  return {{"episodes.reward", mean},
          {"running.reward", now.running_reward},
          {"mean of 100.reward", now.mean_reward},
          {"entropy", now.mean_entropy}};
}

void ReinforcementView::reset() {
  now = api::makeStruct<brew_learning_progress>();
  rewardSum = 0;
  rewards = 0;
}

Json ReinforcementView::progress() const {
  return {{"environment", environment},
          {"episode", now.episodes},
          {"episodes", episodeLimit},
          {"steps", now.steps},
          {"running_reward", now.running_reward},
          {"mean_reward", now.mean_reward},
          {"maximum_reward", now.maximum_reward},
          {"collapsed", now.collapsed != 0}};
}

void ReinforcementView::onStep(const brew_scene &scene) {
  if (scene.step == 0) {
    recording = Clock::now() >= next && scene.observation_count > kAngle;
    positions.clear();
  }
  if (!recording)
    return;
  positions.push_back(scene.observation[kPlace]);
  positions.push_back(scene.observation[kAngle]);
  const std::size_t steps = positions.size() / 2;
  if (scene.state == BREW_EPISODE_RUNNING && steps < kMostSteps)
    return;
  recording = false;
  next = Clock::now() + std::max<Clock::duration>(
                            kLeastPause, kStep * static_cast<int>(steps));
  Json frames = Json::array();
  for (std::size_t i = 0; i < positions.size(); i += 2)
    frames.push_back({rounded(positions[i]), rounded(positions[i + 1])});
  Json message = {{"type", "episode"},
                  {"environment", environment},
                  {"reward", scene.reward},
                  {"milliseconds", kStep.count()},
                  {"frames", std::move(frames)}};
  broadcast.send(message.dump());
  std::lock_guard<std::mutex> lock(mutex);
  played = std::move(message);
}

Json ReinforcementView::lastEpisode() const {
  std::lock_guard<std::mutex> lock(mutex);
  return played;
}

} // namespace brew::monitor
