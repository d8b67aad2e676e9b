//===- CartPole.h - A pole on a cart ----------------------------*- C++ -*-===//
//
// A pole stands on a cart that is pushed left (action 0) or right (1) every
// 20 ms; it is to stay up (Barto, Sutton and Anderson, "Neuronlike adaptive
// elements that can solve difficult learning control problems", 1983).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Environment.h"

#include <array>

namespace brew::reinforcement {

struct CartPoleRules {
  const char *name;
  double degrees;  ///< at which the pole counts as fallen
  int steps;       ///< after which an episode is cut; 0: never
  bool showsState; ///< that a step leads to; else the one it began in
};

/// Gymnasium's CartPole-v1 and -v0, and MyCaffe's.
inline constexpr CartPoleRules kCartPoleVariants[] = {
    {"cartpole", 12, 500, true},
    {"cartpole-v0", 12, 200, true},
    {"cartpole-mycaffe", 20, 0, false},
};

class CartPole : public Environment {
public:
  /// Where the cart is (m), how fast, the pole's angle (rad), how fast.
  using State = std::array<double, 4>;
  static constexpr double kEdge = 2.4;

  explicit CartPole(const CartPoleRules &chosen) : rules(chosen) {}

  std::string name() const override { return rules.name; }
  std::int64_t observationCount() const override { return 4; }
  int actionCount() const override { return 2; }
  /// Those of the velocities are only usual: twice those of the places.
  std::vector<float> low() const override;
  std::vector<float> high() const override;
  /// Each number of the state is uniform in [-0.05, 0.05).
  void reset(std::uint64_t seed, float *observation) override;
  /// Every step is worth 1, the one that fails included.
  StepResult step(int action, float *observation) override;
  bool draw(formats::Image &picture) const override;

  /// 20 ms later, by Euler's method, with a push of 10 N.
  static State move(const State &from, int action);
  const State &state() const { return now; }
  double angleLimit() const;

private:
  void show(const State &state, float *observation) const;

  const CartPoleRules &rules;
  State now{};
  int done = 0; ///< steps
};

} // namespace brew::reinforcement
