//===- StepTimes.h - How long each node of the net takes --------*- C++ -*-===//
//
// A clock at each step keeps steps from running into each other, so an
// iteration is timed only while a page asks for it, and one of a hundred at
// most.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

namespace brew::monitor {

class StepTimes {
public:
  /// `graph`: what netGraphOf() gives.
  explicit StepTimes(const nlohmann::json &graph);

  /// Asks for fresh times. Any thread.
  void request();
  /// The last: {"iteration": N, "nodes": [[forward, backward], ...]} in
  /// seconds, or null. Any thread.
  nlohmann::json last() const;

  /// On the training thread: whether the next iteration is to be timed.
  bool isDue();
  /// What it took.
  void store(int iteration, const double *seconds, std::size_t count);

private:
  using Clock = std::chrono::steady_clock;

  struct StepNode {
    int node; ///< -1: none
    bool backward;
  };
  std::vector<StepNode> stepNodes; ///< of each step
  std::size_t nodes;
  Clock::time_point next; ///< of the training thread alone

  mutable std::mutex mutex;
  bool requested = false;
  nlohmann::json times;
};

} // namespace brew::monitor
