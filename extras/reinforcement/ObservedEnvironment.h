//===- ObservedEnvironment.h - Tells what happens in one ---------*- C++ -*-===//
#pragma once

#include "extras/reinforcement/Environment.h"

#include <functional>
#include <map>
#include <memory>

namespace brew::reinforcement {

/// Where an environment stands after a reset or a step.
struct EnvironmentState {
  std::int64_t step = 0; ///< of the episode; 0: it has just begun
  int action = -1;       ///< that led here
  StepResult last;          ///< its outcome
  double reward = 0;     ///< of the episode so far
  const float *observation = nullptr;
};

/// An environment, and those who are told of each reset and step of it, on the
/// thread that calls these. Watchers come and go while nobody plays.
class ObservedEnvironment : public Environment {
public:
  explicit ObservedEnvironment(std::unique_ptr<Environment> environment)
      : inner(std::move(environment)) {}

  using Observer = std::function<void(const EnvironmentState &)>;
  int add(Observer observer);
  void remove(int number) { observers.erase(number); }

  std::string name() const override { return inner->name(); }
  std::int64_t observationCount() const override {
    return inner->observationCount();
  }
  int actionCount() const override { return inner->actionCount(); }
  std::vector<float> low() const override { return inner->low(); }
  std::vector<float> high() const override { return inner->high(); }
  bool draw(formats::Image &picture) const override {
    return inner->draw(picture);
  }
  void reset(std::uint64_t seed, float *observation) override;
  StepResult step(int action, float *observation) override;

private:
  void notify(const float *observation);

  std::unique_ptr<Environment> inner;
  std::map<int, Observer> observers;
  int next = 0;
  EnvironmentState state;
};

} // namespace brew::reinforcement
