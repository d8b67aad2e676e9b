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
  /// Returns the names of the properties that setProperty() takes.
  virtual std::vector<std::string> propertyNames() const { return {}; }
  /// Sets a property to the value that `text` contains. Throws Error (2) for an
  /// unknown property or an invalid value.
  virtual void setProperty(const std::string &key, const std::string &text);
  /// Uses a trainer's defaults for the properties that were not set.
  virtual void useDefaultsOf(const std::string &) {}
  /// Returns the values of the properties: "KEY=VALUE;...", or "".
  virtual std::string properties() const { return {}; }
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

/// Creates a built-in environment. `text` is its name, which a list of its
/// properties (caffe/PropertyList.h) may follow: "cartpole:FailureReward=0".
/// Throws Error (2) for unknown names, which lists the known ones, and for
/// invalid properties.
std::unique_ptr<Environment> makeEnvironment(const std::string &text);
/// Returns the names of the built-in environments.
std::vector<std::string> environmentNames();

} // namespace brew::reinforcement
