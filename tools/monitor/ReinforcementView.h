//===- ReinforcementView.h - Reinforcement learning page --------*- C++ -*-===//
//
// The page shows curves of the reward per update and replays some episodes in
// real time; it skips the episodes that are played meanwhile.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/monitor/Broadcast.h"

#include <brew/brew.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace brew::monitor {

/// Collects the progress of reinforcement learning for the page.
class ReinforcementView {
public:
  /// `environment`: its name. `episodes`: limit of the run (0: no limit).
  /// Episodes to replay are sent to `broadcast`.
  ReinforcementView(Broadcast &broadcast, std::string environment,
                    std::int64_t episodes);

  /// Adds an episode. Training thread only.
  void add(double reward, const brew_learning_progress &progress);
  using Points = std::vector<std::pair<std::string, double>>;
  /// Returns the means over the episodes since the last call, by curve; empty
  /// if there were no episodes.
  Points takePoints();
  /// Clears the progress when training restarts.
  void reset();

  /// Returns {environment, episode, episodes, steps, mean_reward, ...}.
  nlohmann::json progress() const;
  std::int64_t steps() const { return current.steps; }

  /// Records a step. Call it on the thread that plays in the environment.
  void onStep(const brew_scene &scene);
  /// Returns the last recorded episode, or null. Thread-safe.
  nlohmann::json lastEpisode() const;

private:
  using Clock = std::chrono::steady_clock;

  Broadcast &broadcast;
  const std::string environment;
  const std::int64_t episodeLimit;

  // The caller must synchronize access to these members.
  brew_learning_progress current = api::makeStruct<brew_learning_progress>();
  double rewardSum = 0;
  std::int64_t rewards = 0;

  // Only the thread that plays uses these members.
  bool isRecording = false;
  Clock::time_point nextRecording; ///< earliest begin
  std::vector<float> positions;    ///< cart position and pole angle per step

  mutable std::mutex mutex;
  nlohmann::json lastRecording;
};

} // namespace brew::monitor
