//===- ObservedEnvironment.h - Environment with observers -------*- C++ -*-===//
#pragma once

#include "extras/reinforcement/Environment.h"

#include <functional>
#include <map>
#include <memory>

namespace brew::reinforcement {

/// The state of an environment after a reset or a step.
struct EnvironmentState {
  std::int64_t step = 0; ///< of the episode; 0: after the reset
  int action = -1;       ///< of the last step
  StepResult last;       ///< result of the last step
  double reward = 0;     ///< of the episode so far
  const float *observation = nullptr;
};

/// An environment that calls its observers after each reset and step, on the
/// calling thread. Add and remove observers only while nothing is playing.
class ObservedEnvironment : public Environment {
public:
  explicit ObservedEnvironment(std::unique_ptr<Environment> environment)
      : inner(std::move(environment)) {}

  using Observer = std::function<void(const EnvironmentState &)>;
  /// Adds an observer and returns its number for remove().
  int add(Observer observer);
  void remove(int number) { observers.erase(number); }

  std::string name() const override { return inner->name(); }
  std::vector<std::string> propertyNames() const override {
    return inner->propertyNames();
  }
  void setProperty(const std::string &key, const std::string &text) override {
    inner->setProperty(key, text);
  }
  void useDefaultsOf(const std::string &trainer) override {
    inner->useDefaultsOf(trainer);
  }
  std::string properties() const override { return inner->properties(); }
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
  int nextNumber = 0;
  EnvironmentState state;
};

} // namespace brew::reinforcement
