//===- Acrobot.h - The Acrobot environment ----------------------*- C++ -*-===//
//
// Two links hang from a fixed joint. A motor between them has a torque of -1, 0
// or 1 (actions 0, 1 and 2) for 0.2 s; the goal is to swing the free end one
// link's length above the fixed joint (Sutton, "Generalization in reinforcement
// learning: successful examples using sparse coarse coding", 1996). The rules
// are those of Gymnasium's Acrobot-v1.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/reinforcement/Environment.h"

#include <array>

namespace brew::reinforcement {

class Acrobot : public Environment {
public:
  static constexpr char kName[] = "acrobot";
  static constexpr int kMaxSteps = 500; ///< of an episode

  /// Angle of the first link from the vertical, angle between the links (rad),
  /// and their velocities.
  using State = std::array<double, 4>;

  std::string name() const override { return kName; }
  /// Cosine and sine of both angles, then the velocities.
  std::int64_t observationCount() const override { return 6; }
  int actionCount() const override { return 3; }
  std::vector<float> low() const override;
  std::vector<float> high() const override;
  /// Draws each number of the state uniformly from [-0.1, 0.1).
  void reset(std::uint64_t seed, float *observation) override;
  /// The reward of each step is -1, and of the one that reaches the goal 0.
  StepResult step(int action, float *observation) override;

  /// Returns the state 0.2 s later, by one Runge-Kutta step.
  static State move(const State &from, int action);
  /// Returns whether the free end is high enough.
  static bool isGoal(const State &state);

private:
  void writeObservation(float *observation) const;

  State current{};
  int stepCount = 0; ///< of the episode
};

} // namespace brew::reinforcement
