//===- Environment.h - What an agent acts in --------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::formats {
struct Image;
}

namespace brew::reinforcement {

/// What an action has led to.
struct StepResult {
  double reward = 0;
  bool terminated = false; ///< the episode has come to its own end
  bool truncated = false;  ///< it was cut: it could have gone on
  bool ended() const { return terminated || truncated; }
};

/// Observations are `observationCount()` numbers, actions whole numbers from 0
/// on. Used by one thread at a time.
class Environment {
public:
  virtual ~Environment() = default;
  virtual std::string name() const = 0;
  virtual std::int64_t observationCount() const = 0;
  virtual int actionCount() const = 0;
  /// Between which numbers observations lie, one for each; empty: unknown.
  virtual std::vector<float> low() const { return {}; }
  virtual std::vector<float> high() const { return {}; }
  /// Begins the episode of that seed: the same seed, the same start.
  virtual void reset(std::uint64_t seed, float *observation) = 0;
  virtual StepResult step(int action, float *observation) = 0;
  /// Draws it as it is now over a picture of 3 channels (blue, green, red),
  /// whose size is the caller's. False: nobody knows how it looks.
  virtual bool draw(formats::Image &) const { return false; }
};

/// The environment of that name. Throws Error (2) that lists those there are.
std::unique_ptr<Environment> makeEnvironment(const std::string &name);
/// In the order in which they are listed.
std::vector<std::string> environmentNames();

} // namespace brew::reinforcement
