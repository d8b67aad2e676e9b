//===- CallersEnvironment.h - Environments of callers -----------*- C++ -*-===//
#pragma once

#include "extras/reinforcement/Environment.h"
#include "support/Error.h"

#include <brew/reinforcement.h>

#include <cmath>
#include <string>
#include <vector>

namespace brew::reinforcement {

/// An environment that calls the caller's functions.
class CallersEnvironment : public Environment {
public:
  explicit CallersEnvironment(const brew_environment_functions &caller)
      : functions(caller),
        displayName(caller.name && *caller.name ? caller.name : "environment") {
    if (!caller.reset || !caller.step)
      throw usageError(
          "an environment needs functions to reset it and to step");
    if (caller.observation_count < 1 || caller.action_count < 2)
      throw usageError(
          "an environment needs at least one observed number and two "
          "actions");
    const auto count = static_cast<std::size_t>(caller.observation_count);
    if (caller.low && caller.high) {
      lowest.assign(caller.low, caller.low + count);
      highest.assign(caller.high, caller.high + count);
    }
  }
  std::string name() const override { return displayName; }
  std::int64_t observationCount() const override {
    return functions.observation_count;
  }
  int actionCount() const override { return functions.action_count; }
  std::vector<float> low() const override { return lowest; }
  std::vector<float> high() const override { return highest; }
  void reset(std::uint64_t seed, float *observation) override {
    steps = 0;
    require(functions.reset(seed, observation, functions.user), "reset");
    requireFinite(observation);
  }
  StepResult step(int action, float *observation) override {
    StepResult outcome;
    brew_episode_state state = BREW_EPISODE_RUNNING;
    require(functions.step(action, observation, &outcome.reward, &state,
                           functions.user),
            "step");
    ++steps;
    requireFinite(observation);
    if (!std::isfinite(outcome.reward))
      throw badInput("the environment '" + displayName +
                     "' returned a reward that is not finite in step " +
                     std::to_string(steps) + " of an episode");
    outcome.terminated = state == BREW_EPISODE_TERMINATED;
    outcome.truncated = state == BREW_EPISODE_TRUNCATED;
    return outcome;
  }

private:
  void require(brew_status status, const char *action) const {
    if (status != BREW_OK)
      throw Error(static_cast<ExitStatus>(status),
                  "the environment '" + displayName + "' failed to " + action);
  }

  void requireFinite(const float *observation) const {
    for (std::int64_t i = 0; i < functions.observation_count; ++i)
      if (!std::isfinite(observation[i]))
        throw badInput(
            "the environment '" + displayName +
            "' returned an observation whose number " + std::to_string(i) +
            " is not finite " +
            (steps ? "in step " + std::to_string(steps) + " of an episode"
                   : "at the beginning of an episode"));
  }

  brew_environment_functions functions;
  std::string displayName;
  std::int64_t steps = 0; ///< of the episode
  std::vector<float> lowest, highest;
};

} // namespace brew::reinforcement
