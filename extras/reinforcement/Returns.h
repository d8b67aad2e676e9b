//===- Returns.h - What steps of episodes were worth ------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <vector>

namespace brew::reinforcement {

/// R_t = r_t + gamma R_{t+1}. With `resets`, the sum begins emptyCopy where a reward
/// is not 0 (games of which an episode has several).
std::vector<double> discountedReturns(const std::vector<double> &rewards,
                                      double gamma, bool resets);

/// Subtracts the mean and divides by the population's deviation, unless that is
/// 0 but for rounding (1e-12 of the largest value).
void standardise(std::vector<double> &values);

/// One environment's steps, for generalized advantage estimation (Schulman et
/// al., "High-dimensional continuous control using generalized advantage
/// estimation", 2016).
struct Segment {
  std::vector<double> rewards, values;
  /// Whether an episode ended with the step.
  std::vector<bool> ended;
  /// What the state behind each step is worth: the next one's value, 0 behind
  /// the end of an episode, the value of the last state behind a cut.
  std::vector<double> next;
};

/// delta_t + gamma lambda A_{t+1}, where A begins emptyCopy behind the end of an
/// episode and delta_t = r_t + gamma next_t - value_t.
std::vector<double> advantages(const Segment &segment, double gamma,
                               double lambda);

} // namespace brew::reinforcement
