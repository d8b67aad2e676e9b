//===- StepTimes.h - Execution times of the nodes of a net ------*- C++ -*-===//
//
// Timing each step prevents steps from overlapping, so iterations are timed
// only while a page requests it, and at most one in a hundred.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

namespace brew::monitor {

/// The execution times of the nodes of a net.
class StepTimes {
public:
  /// `graph`: the result of netGraphOf().
  explicit StepTimes(const nlohmann::json &graph);

  /// Requests new times. Thread-safe.
  void request();
  /// Returns the last times, {"iteration": N, "nodes": [[forward, backward],
  /// ...]} in seconds, or null. Thread-safe.
  nlohmann::json last() const;

  /// Returns whether to time the next iteration. Training thread only.
  bool isDue();
  /// Stores the times of the steps of an iteration.
  void store(int iteration, const double *seconds, std::size_t count);

private:
  using Clock = std::chrono::steady_clock;

  struct StepNode {
    int node; ///< -1: no node
    bool backward;
  };
  std::vector<StepNode> stepNodes; ///< node of each step
  std::size_t nodes;
  Clock::time_point next; ///< training thread only

  mutable std::mutex mutex;
  bool requested = false;
  nlohmann::json times;
};

} // namespace brew::monitor
