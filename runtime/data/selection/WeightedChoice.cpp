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
  constexpr double kExact = 1e-3; // relative error of a weight
  double sum = 0;
  for (double weight : weights) {
    const double before = sum;
    sum += weight;
    if (!(std::abs(sum - before - weight) <= kExact * weight))
      return false;
  }
  return true;
}

double WeightedChoice::total(const IndexRange &range) const {
  return isAlike() ? static_cast<double>(range.size())
                   : sums[range.end] - sums[range.begin];
}

std::uint64_t WeightedChoice::draw(const IndexRange &among,
                                   const IndexRange &without,
                                   const caffe::RandomStream &stream,
                                   std::uint64_t number) const {
  if (isAlike()) {
    const std::uint64_t index =
        among.begin + stream.below(number, among.size() - without.size());
    return index < without.begin ? index : index + without.size();
  }
  double target = sums[among.begin] +
                  stream.uniform(number) * (total(among) - total(without));
  if (target >= sums[without.begin])
    target += total(without);
  const auto found =
      std::upper_bound(sums.begin() + static_cast<std::ptrdiff_t>(among.begin),
                       sums.begin() + static_cast<std::ptrdiff_t>(among.end),
                       target) -
      sums.begin();
  return nearest(static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(
                     found - 1, static_cast<std::ptrdiff_t>(among.begin))),
                 among, without);
}

/// `index`, or if rounding of the sums led to an invalid index, the nearest
/// valid one before it, else after it.
std::uint64_t WeightedChoice::nearest(std::uint64_t index,
                                      const IndexRange &among,
                                      const IndexRange &without) const {
  auto isPossible = [&](std::uint64_t at) {
    return sums[at + 1] > sums[at] && (at < without.begin || at >= without.end);
  };
  for (std::uint64_t at = index + 1; at > among.begin; --at)
    if (isPossible(at - 1))
      return at - 1;
  for (std::uint64_t at = index; at + 1 < among.end; ++at)
    if (isPossible(at + 1))
      return at + 1;
  return index;
}

} // namespace brew::runtime
