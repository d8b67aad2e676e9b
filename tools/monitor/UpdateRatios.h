//===- UpdateRatios.h - Update-to-weight ratios of layers -------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <nlohmann/json.hpp>

#include <mutex>
#include <vector>

namespace brew::monitor {

/// The standard deviation of a layer's update divided by the standard deviation
/// of its weights, for one iteration. About .001 is typical in successful
/// training.
class UpdateRatios {
public:
  /// Requests new ratios. Thread-safe.
  void request();
  /// Returns the last ratios, {"iteration": N, "layers": {"conv1": .0012,
  /// ...}}, or null. Thread-safe.
  nlohmann::json last() const;

  /// Measures ratios if they were requested. Call it on the training thread
  /// after each iteration. `mayRead`: whether a new measurement may begin.
  /// Returns whether the call has read the parameters.
  bool poll(api::Session &session, int iteration, bool mayRead);

private:
  struct Sample {
    api::TensorName name;
    std::vector<float> values;
  };
  static std::vector<Sample> sample(api::Session &session);

  mutable std::mutex mutex;
  bool requested = false;
  nlohmann::json ratios;
  // Training thread only.
  std::vector<Sample> before;
  int beforeIteration = -1;
};

} // namespace brew::monitor
