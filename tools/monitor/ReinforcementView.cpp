//===- ReinforcementView.cpp - Reinforcement learning on the page ---------===//

#include "tools/monitor/ReinforcementView.h"

#include <algorithm>
#include <cmath>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

/// A step of Cart-Pole lasts 20 ms; at most 10 s of an episode are recorded.
constexpr std::chrono::milliseconds kStep(20), kMinPause(1000);
constexpr std::size_t kMaxSteps = 500;
/// Indices of the drawn observations: position of the cart, angle of the pole.
constexpr std::int64_t kCartPosition = 0, kPoleAngle = 2;

double rounded(float value) { return std::round(double(value) * 1e4) / 1e4; }

} // namespace

ReinforcementView::ReinforcementView(Broadcast &pages, std::string name,
                                     std::int64_t episodes)
    : broadcast(pages), environment(std::move(name)), episodeLimit(episodes) {}

void ReinforcementView::add(double reward,
                            const brew_learning_progress &progress) {
  current = progress;
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
          {"running.reward", current.running_reward},
          {"mean of 100.reward", current.mean_reward},
          {"entropy", current.mean_entropy}};
}

void ReinforcementView::reset() {
  current = api::makeStruct<brew_learning_progress>();
  rewardSum = 0;
  rewards = 0;
}

Json ReinforcementView::progress() const {
  return {{"environment", environment},
          {"episode", current.episodes},
          {"episodes", episodeLimit},
          {"steps", current.steps},
          {"running_reward", current.running_reward},
          {"mean_reward", current.mean_reward},
          {"maximum_reward", current.maximum_reward},
          {"collapsed", current.collapsed != 0}};
}

void ReinforcementView::onStep(const brew_scene &scene) {
  if (scene.step == 0) {
    isRecording =
        Clock::now() >= nextRecording && scene.observation_count > kPoleAngle;
    positions.clear();
  }
  if (!isRecording)
    return;
  positions.push_back(scene.observation[kCartPosition]);
  positions.push_back(scene.observation[kPoleAngle]);
  const std::size_t steps = positions.size() / 2;
  if (scene.state == BREW_EPISODE_RUNNING && steps < kMaxSteps)
    return;
  isRecording = false;
  nextRecording =
      Clock::now() +
      std::max<Clock::duration>(kMinPause, kStep * static_cast<int>(steps));
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
  lastRecording = std::move(message);
}

Json ReinforcementView::lastEpisode() const {
  std::lock_guard<std::mutex> lock(mutex);
  return lastRecording;
}

} // namespace brew::monitor
