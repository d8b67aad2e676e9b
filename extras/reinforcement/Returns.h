//===- Returns.h - Discounted returns and advantages ------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <vector>

namespace brew::reinforcement {

/// Returns R_t = r_t + gamma R_{t+1}. With `resets`, the sum restarts at
/// nonzero rewards (for episodes that contain several games).
std::vector<double> discountedReturns(const std::vector<double> &rewards,
                                      double gamma, bool resets);

/// Subtracts the mean and divides by the population standard deviation. Does
/// nothing if the deviation is at most 1e-12 of the largest value.
void standardise(std::vector<double> &values);

/// One environment's steps, for generalized advantage estimation (Schulman et
/// al., "High-dimensional continuous control using generalized advantage
/// estimation", 2016).
struct Segment {
  std::vector<double> rewards, values;
  /// Whether an episode ended with the step.
  std::vector<bool> ended;
  /// The value of the state after each step: the next step's value, 0 after a
  /// terminal state, the last state's value after a truncation.
  std::vector<double> next;
};

/// Returns A_t = delta_t + gamma lambda A_{t+1}, where A restarts at 0 after
/// the end of an episode and delta_t = r_t + gamma next_t - value_t.
std::vector<double> computeAdvantages(const Segment &segment, double gamma,
                                      double lambda);

} // namespace brew::reinforcement
