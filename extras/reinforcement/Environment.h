//===- Environment.h - Interface of environments ----------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::formats {
struct Image;
}

namespace brew::reinforcement {

/// The result of a step.
struct StepResult {
  double reward = 0;
  bool terminated = false; ///< the episode reached a terminal state
  bool truncated = false;  ///< a limit ended the episode
  bool ended() const { return terminated || truncated; }
};

/// An environment with observations of observationCount() numbers and actions 0
/// to actionCount() - 1. Used by one thread at a time.
class Environment {
public:
  virtual ~Environment() = default;
  virtual std::string name() const = 0;
  virtual std::int64_t observationCount() const = 0;
  virtual int actionCount() const = 0;
  /// Return the bounds of each number of an observation; empty: unknown.
  virtual std::vector<float> low() const { return {}; }
  virtual std::vector<float> high() const { return {}; }
  /// Begins an episode and writes its first observation. Equal seeds begin
  /// equal episodes.
  virtual void reset(std::uint64_t seed, float *observation) = 0;
  /// Performs an action and writes the next observation.
  virtual StepResult step(int action, float *observation) = 0;
  /// Draws the current state over a picture of 3 channels (blue, green, red),
  /// whose size the caller chooses. Returns false if it cannot be drawn.
  virtual bool draw(formats::Image &) const { return false; }
};

/// Creates the built-in environment called `name`. Throws Error (2) that lists
/// the known names if the name is unknown.
std::unique_ptr<Environment> makeEnvironment(const std::string &name);
/// Returns the names of the built-in environments.
std::vector<std::string> environmentNames();

} // namespace brew::reinforcement
