//===- WeightedChoice.cpp - Weighted random choice ------------------------===//

#include "runtime/data/selection/WeightedChoice.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {

WeightedChoice::WeightedChoice(const std::vector<double> &weights)
    : sums(1, 0.0) {
  sums.reserve(weights.size() + 1);
  for (double weight : weights)
    sums.push_back(sums.back() + weight);
}

bool WeightedChoice::canDraw(const std::vector<double> &weights) {
  constexpr double kTolerance = 1e-3; // relative error of a weight
  double sum = 0;
  for (double weight : weights) {
    const double before = sum;
    sum += weight;
    if (!(std::abs(sum - before - weight) <= kTolerance * weight))
      return false;
  }
  return true;
}

double WeightedChoice::total(const IndexRange &range) const {
  return hasEqualWeights() ? static_cast<double>(range.size())
                           : sums[range.end] - sums[range.begin];
}

std::uint64_t WeightedChoice::draw(const IndexRange &range,
                                   const IndexRange &excluded,
                                   const caffe::RandomStream &stream,
                                   std::uint64_t number) const {
  if (hasEqualWeights()) {
    const std::uint64_t index =
        range.begin + stream.below(number, range.size() - excluded.size());
    return index < excluded.begin ? index : index + excluded.size();
  }
  double target = sums[range.begin] +
                  stream.uniform(number) * (total(range) - total(excluded));
  if (target >= sums[excluded.begin])
    target += total(excluded);
  const auto found =
      std::upper_bound(sums.begin() + static_cast<std::ptrdiff_t>(range.begin),
                       sums.begin() + static_cast<std::ptrdiff_t>(range.end),
                       target) -
      sums.begin();
  return nearestValid(static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(
                          found - 1, static_cast<std::ptrdiff_t>(range.begin))),
                      range, excluded);
}

/// Returns `index` if it is valid. If rounding of the sums made it invalid,
/// returns the nearest valid index before it, or else the nearest after it.
std::uint64_t WeightedChoice::nearestValid(std::uint64_t index,
                                           const IndexRange &range,
                                           const IndexRange &excluded) const {
  auto isPossible = [&](std::uint64_t at) {
    return sums[at + 1] > sums[at] &&
           (at < excluded.begin || at >= excluded.end);
  };
  for (std::uint64_t at = index + 1; at > range.begin; --at)
    if (isPossible(at - 1))
      return at - 1;
  for (std::uint64_t at = index; at + 1 < range.end; ++at)
    if (isPossible(at + 1))
      return at + 1;
  return index;
}

} // namespace brew::runtime
