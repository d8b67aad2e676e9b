//===- Patience.h - Measurements without improvement ------------*- C++ -*-===//
#pragma once

#include "runtime/train/metrics/BestMetric.h"

#include <string>

namespace brew::runtime {

/// Counts the measurements of a metric since its best value.
class Patience {
public:
  /// `limit`: the number of measurements without improvement, from 1 on, that
  /// exhausts the patience. `measurement` names one of them: "test".
  Patience(RankedMetric metric, int limit, std::string measurement)
      : metric(std::move(metric)), best(this->metric), limit(limit),
        measurement(std::move(measurement)) {}

  const MetricName &metricName() const { return metric.name; }
  /// Adds a value measured after `iteration` iterations. Returns whether it is
  /// better than all before.
  bool isImproved(double value, int iteration);
  bool isExhausted() const { return withoutImprovement >= limit; }
  /// Returns "2 tests without improvement of test.loss: the best was 0.4 after
  /// 30 iterations".
  std::string reason() const;
  /// Restarts the count, without a best value.
  void restart();

private:
  RankedMetric metric;
  BestMetric best;
  int limit, withoutImprovement = 0;
  std::string measurement;
};

} // namespace brew::runtime
