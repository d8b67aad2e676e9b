//===- BestMetric.cpp - Best value of a metric ----------------------------===//

#include "runtime/train/metrics/BestMetric.h"

#include "formats/SolverStateFile.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace brew::runtime {
std::string BestMetric::fileTag() const {
  std::string tag = "best_" + name();
  std::replace_if(
      tag.begin(), tag.end(),
      [](char c) {
        return std::string_view("/()*?").find(c) != std::string_view::npos;
      },
      '_');
  return tag;
}

std::string BestMetric::description() const {
  return name() + ", of which " +
         (metric.better == Better::Lower ? "lower" : "higher") + " is better";
}

bool BestMetric::isBetter(double candidate) const {
  if (std::isnan(candidate))
    return false;
  return !value || (metric.better == Better::Lower ? candidate < *value
                                                   : candidate > *value);
}

bool BestMetric::updateIfBetter(double candidate, int measuredAt) {
  if (!isBetter(candidate))
    return false;
  value = candidate;
  iteration = measuredAt;
  return true;
}

void BestMetric::save(caffe::SolverState &state) const {
  if (value)
    formats::setNamedValues(state, stateName(), {*value, double(iteration)});
}

void BestMetric::restore(const caffe::SolverState &state,
                         const std::string &path) {
  const std::vector<double> saved =
      formats::namedValues(state, stateName(), path);
  if (saved.size() != 2 || !isBetter(saved[0]))
    return;
  value = saved[0];
  iteration = static_cast<int>(saved[1]);
}

} // namespace brew::runtime
