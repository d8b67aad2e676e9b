//===- CtcAlignment.cpp - Paths that give a sequence of labels ------------===//

#include "runtime/host_layers/CtcAlignment.h"

#include <cmath>
#include <limits>
#include <utility>

namespace brew::runtime {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Returns log(exp(a) + exp(b)).
double addLogs(double a, double b) {
  if (a < b)
    std::swap(a, b);
  return b == kImpossible ? a : a + std::log1p(std::exp(b - a));
}

} // namespace

CtcAlignment::CtcAlignment(const std::vector<double> &logs, std::int64_t steps,
                           std::int64_t alphabet,
                           const std::vector<int> &labels, int blank)
    : logs(logs), steps(steps), alphabet(alphabet) {
  for (int label : labels) {
    symbols.push_back(blank);
    symbols.push_back(label);
  }
  symbols.push_back(blank);
}

double CtcAlignment::compute(std::vector<double> &symbolSums) const {
  const std::vector<double> before = pathsTo(false), after = pathsTo(true);
  const std::size_t states = symbols.size();
  symbolSums.assign(static_cast<std::size_t>(steps * alphabet), kImpossible);
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::size_t s = 0; s < states; ++s) {
      // Both sums contain the probability of this state.
      double &sum = symbolSums[index(t, symbols[s])];
      sum = addLogs(sum, before[t * states + s] +
                             after[(steps - 1 - t) * states + states - 1 - s] -
                             logs[index(t, symbols[s])]);
    }
  const double *last = &before[(steps - 1) * states];
  return states == 1 ? last[0] : addLogs(last[states - 1], last[states - 2]);
}

std::vector<double> CtcAlignment::pathsTo(bool reversed) const {
  const std::size_t states = symbols.size();
  std::vector<double> paths(steps * states, kImpossible);
  auto symbol = [&](std::size_t s) {
    return symbols[reversed ? states - 1 - s : s];
  };
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::size_t s = 0; s < states; ++s) {
      double sum = kImpossible;
      if (t == 0) {
        sum = s < 2 ? 0 : kImpossible;
      } else {
        const double *previous = &paths[(t - 1) * states];
        sum = previous[s];
        if (s > 0)
          sum = addLogs(sum, previous[s - 1]);
        // A blank between different labels may be skipped. Labels have odd
        // positions.
        if (s > 1 && s % 2 == 1 && symbol(s) != symbol(s - 2))
          sum = addLogs(sum, previous[s - 2]);
      }
      paths[t * states + s] =
          sum + logs[index(reversed ? steps - 1 - t : t, symbol(s))];
    }
  return paths;
}

} // namespace brew::runtime
