//===- UpdateRatios.h - How much an update changes each layer ----*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <nlohmann/json.hpp>

#include <mutex>
#include <vector>

namespace brew::monitor {

/// The deviation of a layer's updates over that of its weights, from one
/// iteration to the next: about .001 where training goes well.
class UpdateRatios {
public:
  /// Asks for fresh ratios. Any thread.
  void request();
  /// The last: {"iteration": N, "layers": {"conv1": .0012, ...}}, or null. Any
  /// thread.
  nlohmann::json last() const;

  /// On the training thread after each iteration; `mayRead`: whether a new look
  /// at the parameters may be begun. Returns whether it has looked.
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
  // Of the training thread alone.
  std::vector<Sample> before;
  int beforeIteration = -1;
};

} // namespace brew::monitor
