//===- Returns.cpp - Discounted returns and advantages --------------------===//

#include "extras/reinforcement/Returns.h"

#include <algorithm>
#include <cmath>

namespace brew::reinforcement {

std::vector<double> discountedReturns(const std::vector<double> &rewards,
                                      double gamma, bool resets) {
  std::vector<double> returns(rewards.size());
  double sum = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    if (resets && rewards[t] != 0)
      sum = 0;
    sum = rewards[t] + gamma * sum;
    returns[t] = sum;
  }
  return returns;
}

void standardise(std::vector<double> &values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (double value : values)
    mean += value;
  mean /= count;
  for (double value : values)
    squares += (value - mean) * (value - mean) / count;
  // Equal values may have a nonzero deviation from rounding of the mean.
  constexpr double kRounding = 1e-12;
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  const double deviation = std::sqrt(squares);
  const bool varies = deviation > kRounding * largest;
  for (double &value : values)
    value = varies ? (value - mean) / deviation : value;
}

std::vector<double> computeAdvantages(const Segment &segment, double gamma,
                                      double lambda) {
  std::vector<double> result(segment.rewards.size());
  double nextAdvantage = 0;
  for (std::size_t t = result.size(); t-- > 0;) {
    const double delta =
        segment.rewards[t] + gamma * segment.next[t] - segment.values[t];
    nextAdvantage =
        delta + (segment.ended[t] ? 0 : gamma * lambda * nextAdvantage);
    result[t] = nextAdvantage;
  }
  return result;
}

} // namespace brew::reinforcement
