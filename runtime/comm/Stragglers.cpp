//===- Stragglers.cpp - Detection of slow ranks ---------------------------===//

#include "runtime/comm/Stragglers.h"

#include <algorithm>
#include <numeric>

namespace brew::runtime::comm {

/// Fraction of the period above which a wait is reported.
static constexpr double kNotableFraction = 0.25;

std::optional<Straggler> findStraggler(const std::vector<double> &waits,
                                       double seconds) {
  if (waits.size() < 2)
    return std::nullopt;
  // The last rank to arrive at an all-reduce does not wait.
  const auto slowest = std::min_element(waits.begin(), waits.end());
  const double total = std::accumulate(waits.begin(), waits.end(), 0.0);
  const double meanOfOthers =
      (total - *slowest) / static_cast<double>(waits.size() - 1);
  if (!(meanOfOthers - *slowest > kNotableFraction * seconds))
    return std::nullopt;
  return Straggler{static_cast<int>(slowest - waits.begin()),
                   meanOfOthers - *slowest};
}

} // namespace brew::runtime::comm
