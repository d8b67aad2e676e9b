//===- WatchedEnvironment.cpp - Tells what happens in one -----------------===//

#include "extras/reinforcement/WatchedEnvironment.h"

#include <utility>

namespace brew::reinforcement {

int WatchedEnvironment::add(Watcher watcher) {
  watchers.emplace(next, std::move(watcher));
  return next++;
}

void WatchedEnvironment::tell(const float *observation) {
  scene.observation = observation;
  for (const auto &[number, watcher] : watchers)
    watcher(scene);
}

void WatchedEnvironment::reset(std::uint64_t seed, float *observation) {
  watched->reset(seed, observation);
  scene = {};
  if (!watchers.empty())
    tell(observation);
}

Outcome WatchedEnvironment::step(int action, float *observation) {
  const Outcome outcome = watched->step(action, observation);
  ++scene.step;
  scene.action = action;
  scene.last = outcome;
  scene.reward += outcome.reward;
  if (!watchers.empty())
    tell(observation);
  return outcome;
}

} // namespace brew::reinforcement
