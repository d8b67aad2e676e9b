//===- MetricValues.cpp - Last values of training metrics -----------------===//

#include "runtime/train/metrics/MetricValues.h"

#include "runtime/train/metrics/EpisodeMetrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brew::runtime {

namespace {
bool hasNan(const event::TestDone &test) {
  return std::isnan(test.loss.value_or(0)) ||
         std::any_of(test.outputs.begin(), test.outputs.end(),
                     [](const OutputValue &output) {
                       return std::isnan(output.value);
                     });
}
} // namespace

void MetricValues::update(const Event &event) {
  if (const auto *begin = std::get_if<event::SolvingBegin>(&event)) {
    iteration = begin->iteration;
    seconds = 0;
  } else if (const auto *done = std::get_if<event::IterationDone>(&event)) {
    loss = done->smoothedLoss;
    learningRate = done->learningRate;
  } else if (const auto *progress = std::get_if<event::Progress>(&event)) {
    // Counts started iterations: on a device they finish later.
    iteration = progress->iteration;
    seconds = progress->seconds;
  } else if (const auto *ended = std::get_if<event::EpisodeDone>(&event)) {
    episode = *ended;
  } else if (const auto *test = std::get_if<event::TestDone>(&event)) {
    iteration = test->iteration;
    for (auto entry = outputs.begin(); entry != outputs.end();)
      entry = entry->first.first == test->net ? outputs.erase(entry) : ++entry;
    for (const OutputValue &output : test->outputs)
      outputs[{test->net, output.blob}].push_back(output.value);
    if (hasNan(*test) || std::isnan(loss.value_or(0)))
      divergedTests.insert(test->net);
    else
      divergedTests.erase(test->net);
  }
}

std::optional<double> MetricValues::value(const MetricName &metric) const {
  switch (metric.kind) {
  case MetricName::Iteration:
    return iteration ? std::optional<double>(*iteration) : std::nullopt;
  case MetricName::Time:
    return seconds;
  case MetricName::TrainLoss:
    return loss;
  case MetricName::LearningRate:
    return learningRate;
  case MetricName::EpisodeValue:
    if (episode)
      for (const OutputValue &value : episodeMetrics(*episode))
        if (value.blob == metric.output)
          return value.value;
    return {};
  case MetricName::Epoch:
    return epoch;
  case MetricName::HookValue: {
    const auto found = hooks.find(metric.hook);
    return found == hooks.end() ? std::nullopt
                                : std::optional<double>(found->second);
  }
  case MetricName::OfTensors:
    return statistics ? statistics->measure(metric.statistic, metric.tensors)
                      : std::nullopt;
  case MetricName::TestOutput:
    break;
  }
  const auto found = outputs.find({metric.net, metric.output});
  if (found == outputs.end() || metric.element >= found->second.size())
    return {};
  return divergedTests.count(metric.net)
             ? std::numeric_limits<double>::quiet_NaN()
             : found->second[metric.element];
}

std::vector<std::pair<std::string, double>> MetricValues::all() const {
  std::vector<std::pair<std::string, double>> result;
  auto add = [&](const std::string &name, std::optional<double> value) {
    if (value)
      result.emplace_back(name, *value);
  };
  if (iteration)
    add("iter", *iteration);
  add("time", seconds);
  add("train.loss", loss);
  add("lr", learningRate);
  add("epoch", epoch);
  if (episode)
    for (const OutputValue &value : episodeMetrics(*episode))
      add("episode." + value.blob, value.value);
  for (const auto &[key, values] : outputs) {
    const auto &[net, blob] = key;
    const std::string name =
        "test" + (net ? std::to_string(net) : "") + "." + blob;
    for (std::size_t i = 0; i < values.size(); ++i)
      add(values.size() == 1 ? name : name + "[" + std::to_string(i) + "]",
          values[i]);
  }
  for (const auto &[name, value] : hooks)
    add("hook." + name, value);
  return result;
}

} // namespace brew::runtime
