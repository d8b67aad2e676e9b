//===- Patience.cpp - Measurements without improvement --------------------===//

#include "runtime/train/metrics/Patience.h"

#include "runtime/log/Log.h"

namespace brew::runtime {

bool Patience::isImproved(double value, int iteration) {
  const bool improved = best.updateIfBetter(value, iteration);
  withoutImprovement = improved ? 0 : withoutImprovement + 1;
  return improved;
}

std::string Patience::reason() const {
  return std::to_string(withoutImprovement) + " " + measurement +
         (withoutImprovement == 1 ? "" : "s") + " without improvement of " +
         metric.name.text +
         (best.best()
              ? ": the best was " + log::number(*best.best()) + " after " +
                    std::to_string(best.bestIteration()) + " iterations"
              : ": it never was a number");
}

void Patience::restart() {
  best = BestMetric(metric);
  withoutImprovement = 0;
}

} // namespace brew::runtime
