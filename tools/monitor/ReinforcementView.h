//===- ReinforcementView.h - A learner as the monitor shows it -------*- C++ -*-===//
//
// What episodes bring, update by update, and now and then one of them in whole:
// a page plays it in the environment's own time, those in between are passed
// over.
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

class ReinforcementView {
public:
  /// Of learning in the environment of that name, for so many episodes (0: no
  /// limit). Episodes to be played go to `broadcast`.
  ReinforcementView(Broadcast &broadcast, std::string environment,
               std::int64_t episodes);

  /// After each episode, on the thread that learns.
  void add(double reward, const brew_learning_progress &progress);
  using Points = std::vector<std::pair<std::string, double>>;
  /// Means over the episodes since the last call, by the names of curves; none
  /// where there were no episodes.
  Points takePoints();
  /// Learning begins again.
  void reset();

  /// {environment, episode, episodes, steps, mean_reward, ...}
  nlohmann::json progress() const;
  std::int64_t steps() const { return now.steps; }

  /// Each step of an environment, on whichever thread plays there.
  void onStep(const brew_scene &scene);
  /// The last episode to be played, or null. Any thread.
  nlohmann::json lastEpisode() const;

private:
  using Clock = std::chrono::steady_clock;

  Broadcast &broadcast;
  const std::string environment;
  const std::int64_t wanted;

  // Guarded by whoever calls.
  brew_learning_progress now = api::makeStruct<brew_learning_progress>();
  double rewardSum = 0;
  std::int64_t rewards = 0;

  // Of the thread that plays.
  bool recording = false;
  Clock::time_point next; ///< when an episode may be recorded again
  std::vector<float> places;

  mutable std::mutex mutex;
  nlohmann::json played;
};

} // namespace brew::monitor
