//===- MetricValues.h - Last values of training metrics ---------*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"
#include "runtime/train/metrics/MetricName.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// The last value of every metric, updated by the events of a session.
class MetricValues {
public:
  /// `statistics`: measures metrics of tensors; null: they have no values.
  explicit MetricValues(const TensorStatistics *statistics = nullptr)
      : statistics(statistics) {}

  void update(const Event &event);
  /// Returns nullopt before the first measurement. The results of a test are
  /// NaN if one of them or the training loss was: a net whose scores are NaN
  /// has an accuracy of 1 by Caffe's rule, and no criterion must hold for that.
  std::optional<double> value(const MetricName &metric) const;
  // Values that no event reports.
  void setEpoch(std::uint64_t complete) {
    epoch = static_cast<double>(complete);
  }
  void setHook(const std::string &name, double value) { hooks[name] = value; }
  /// Returns all values except those of tensors, by name: "test.accuracy",
  /// "test1.top[3]", "iter".
  std::vector<std::pair<std::string, double>> all() const;

private:
  const TensorStatistics *statistics;
  std::optional<int> iteration;
  std::optional<double> seconds, loss, learningRate, epoch;
  std::optional<event::EpisodeDone> episode;
  std::map<std::string, double> hooks;
  std::map<std::pair<int, std::string>, std::vector<double>> outputs;
  std::set<int> divergedTests; ///< test nets
};

} // namespace brew::runtime
