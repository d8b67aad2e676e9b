//===- ObservedEnvironment.cpp - Environment with observers ---------------===//

#include "extras/reinforcement/ObservedEnvironment.h"

#include <utility>

namespace brew::reinforcement {

int ObservedEnvironment::add(Observer observer) {
  observers.emplace(nextNumber, std::move(observer));
  return nextNumber++;
}

void ObservedEnvironment::notify(const float *observation) {
  state.observation = observation;
  for (const auto &[number, observer] : observers)
    observer(state);
}

void ObservedEnvironment::reset(std::uint64_t seed, float *observation) {
  inner->reset(seed, observation);
  state = {};
  if (!observers.empty())
    notify(observation);
}

StepResult ObservedEnvironment::step(int action, float *observation) {
  const StepResult outcome = inner->step(action, observation);
  ++state.step;
  state.action = action;
  state.last = outcome;
  state.reward += outcome.reward;
  if (!observers.empty())
    notify(observation);
  return outcome;
}

} // namespace brew::reinforcement
