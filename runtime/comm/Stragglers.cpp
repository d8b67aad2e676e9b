//===- Stragglers.cpp - Which rank the others wait for --------------------===//

#include "runtime/comm/Stragglers.h"

#include <algorithm>
#include <numeric>

namespace brew::runtime::comm {

/// Share of the time from which on a wait is worth a line.
static constexpr double kNotable = 0.25;

std::optional<Straggler> findStraggler(const std::vector<double> &waits,
                                       double seconds) {
  if (waits.size() < 2)
    return std::nullopt;
  // Whoever is late for a sum waits for nobody.
  const auto slowest = std::min_element(waits.begin(), waits.end());
  const double all = std::accumulate(waits.begin(), waits.end(), 0.0);
  const double others =
      (all - *slowest) / static_cast<double>(waits.size() - 1);
  if (!(others - *slowest > kNotable * seconds))
    return std::nullopt;
  return Straggler{static_cast<int>(slowest - waits.begin()),
                   others - *slowest};
}

} // namespace brew::runtime::comm
