//===- BestMetric.cpp - Best value of a metric ----------------------------===//

#include "runtime/train/metrics/BestMetric.h"

#include "formats/SolverStateFile.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

/// Returns the value of `metric` in a test's results; nullopt if the metric is
/// of another test net.
std::optional<double> valueIn(const event::TestDone &done,
                              const MetricName &metric) {
  if (done.net != metric.net)
    return {};
  std::size_t element = 0;
  for (const OutputValue &output : done.outputs)
    if (output.blob == metric.output && element++ == metric.element)
      return output.value;
  return {};
}

RankedMetric parseTestMetric(const std::string &text,
                             const MetricScope &scope) {
  try {
    const RankedMetric metric = parseRankedMetric(text, scope);
    if (metric.name.kind != MetricName::TestOutput)
      throw TextError{0, "expected a test result: test.OUTPUT or test1.OUTPUT"};
    return metric;
  } catch (const TextError &problem) {
    throwTextError("--snapshot-best", text, problem);
  }
}

} // namespace

BestMetric::BestMetric(const std::string &text, const MetricScope &scope)
    : metric(parseTestMetric(text, scope)) {}

std::string BestMetric::fileTag() const {
  std::string tag = "best_" + name();
  std::replace(tag.begin(), tag.end(), '/', '_');
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

bool BestMetric::updateIfBetter(const event::TestDone &done) {
  const std::optional<double> candidate = valueIn(done, metric.name);
  return candidate && updateIfBetter(*candidate, done.iteration);
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
