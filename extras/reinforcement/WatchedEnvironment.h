//===- WatchedEnvironment.h - Tells what happens in one ---------*- C++ -*-===//
#pragma once

#include "extras/reinforcement/Environment.h"

#include <functional>
#include <map>
#include <memory>

namespace brew::reinforcement {

/// Where an environment stands after a reset or a step.
struct Scene {
  std::int64_t step = 0; ///< of the episode; 0: it has just begun
  int action = -1;       ///< that led here
  Outcome last;          ///< its outcome
  double reward = 0;     ///< of the episode so far
  const float *observation = nullptr;
};

/// An environment, and those who are told of each reset and step of it, on the
/// thread that calls these. Watchers come and go while nobody plays.
class WatchedEnvironment : public Environment {
public:
  explicit WatchedEnvironment(std::unique_ptr<Environment> environment)
      : watched(std::move(environment)) {}

  using Watcher = std::function<void(const Scene &)>;
  int add(Watcher watcher);
  void remove(int number) { watchers.erase(number); }

  std::string name() const override { return watched->name(); }
  std::int64_t observationCount() const override {
    return watched->observationCount();
  }
  int actionCount() const override { return watched->actionCount(); }
  std::vector<float> low() const override { return watched->low(); }
  std::vector<float> high() const override { return watched->high(); }
  bool draw(formats::Image &picture) const override {
    return watched->draw(picture);
  }
  void reset(std::uint64_t seed, float *observation) override;
  Outcome step(int action, float *observation) override;

private:
  void tell(const float *observation);

  std::unique_ptr<Environment> watched;
  std::map<int, Watcher> watchers;
  int next = 0;
  Scene scene;
};

} // namespace brew::reinforcement
