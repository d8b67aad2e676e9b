//===- CartPole.h - The Cart-Pole environment -------------------*- C++ -*-===//
//
// A pole stands on a cart that is pushed left (action 0) or right (1) every 20
// ms; the goal is to keep the pole upright (Barto, Sutton and Anderson,
// "Neuronlike adaptive elements that can solve difficult learning control
// problems", 1983).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Environment.h"

#include <array>
#include <optional>

namespace brew::reinforcement {

struct CartPoleRules {
  const char *name;
  double degrees;  ///< angle beyond which the pole counts as fallen
  int steps;       ///< limit after which an episode is truncated; 0: never
  bool showsState; ///< observe the state after a step; else before it
};

/// Gymnasium's CartPole-v1 and -v0, and MyCaffe's variant.
inline constexpr CartPoleRules kCartPoleVariants[] = {
    {"cartpole", 12, 500, true},
    {"cartpole-v0", 12, 200, true},
    {"cartpole-mycaffe", 20, 0, false},
};

class CartPole : public Environment {
public:
  /// Position (m) and velocity of the cart, angle (rad) and angular velocity of
  /// the pole.
  using State = std::array<double, 4>;
  static constexpr double kEdge = 2.4; ///< of the track, in metres

  explicit CartPole(const CartPoleRules &variant) : rules(variant) {}

  std::string name() const override { return rules.name; }
  std::int64_t observationCount() const override { return 4; }
  int actionCount() const override { return 2; }
  std::vector<std::string> propertyNames() const override;
  void setProperty(const std::string &key, const std::string &text) override;
  /// PG.SIMPLE: a failing step pays 0, as in MyCaffe's paper; others: 1, as in
  /// Gymnasium and in MyCaffe's code.
  void useDefaultsOf(const std::string &trainer) override;
  std::string properties() const override;
  /// The bounds of velocities are not hard: they are twice those of positions.
  std::vector<float> low() const override;
  std::vector<float> high() const override;
  /// Draws each number of the state uniformly from [-0.05, 0.05).
  void reset(std::uint64_t seed, float *observation) override;
  /// The reward of each step is 1, and of the failing one FailureReward.
  StepResult step(int action, float *observation) override;
  bool draw(formats::Image &picture) const override;

  /// Returns the state 20 ms later, by Euler's method, with a force of 10 N.
  static State move(const State &from, int action);
  const State &state() const { return current; }
  /// Returns the angle, in radians, beyond which the pole counts as fallen.
  double angleLimit() const;

private:
  void writeObservation(const State &state, float *observation) const;
  double failureReward() const {
    return chosenFailureReward.value_or(defaultFailureReward);
  }

  const CartPoleRules &rules;
  State current{};
  int stepCount = 0; ///< of the episode
  std::optional<double> chosenFailureReward;
  double defaultFailureReward = 1;
};

} // namespace brew::reinforcement
