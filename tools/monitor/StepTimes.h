//===- StepTimes.h - Execution times of the nodes of a net ------*- C++ -*-===//
//
// Timing each step prevents steps from overlapping, so an iteration is timed
// only if a page requests times, at most every three seconds, and after a pause
// of a hundred times the duration of the last timed steps.
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

  /// Returns whether to time the next iteration, and if so clears the request.
  /// Training thread only.
  bool isDue();
  /// Stores the times of the steps of an iteration, in seconds. Training thread
  /// only.
  void store(int iteration, const double *seconds, std::size_t count);

private:
  using Clock = std::chrono::steady_clock;

  struct StepNode {
    int node; ///< -1: no node
    bool backward;
  };
  std::vector<StepNode> stepNodes; ///< node of each step
  std::size_t nodes;
  Clock::time_point next; ///< end of the pause; training thread only

  mutable std::mutex mutex;
  bool requested = false;
  nlohmann::json times;
};

} // namespace brew::monitor
