//===- BestMetric.h - Best value of a metric --------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/train/metrics/MetricName.h"

#include <optional>
#include <string>
#include <utility>

namespace brew::runtime {

/// A metric and its best value so far.
class BestMetric {
public:
  explicit BestMetric(RankedMetric metric) : metric(std::move(metric)) {}

  /// Returns the metric's name: "test.accuracy".
  const std::string &name() const { return metric.name.text; }
  const MetricName &metricName() const { return metric.name; }
  /// Returns the infix of file names: "best_test.accuracy".
  std::string fileTag() const;
  /// Returns "test.accuracy, of which higher is better".
  std::string description() const;

  /// Updates the best value with one measured after `iteration` iterations.
  /// Returns whether it is better; NaN never is.
  bool updateIfBetter(double candidate, int iteration);
  std::optional<double> best() const { return value; }
  int bestIteration() const { return iteration; }

  /// Adds the best value to a solver state.
  void save(caffe::SolverState &state) const;
  /// Restores the best value from a state of the same metric if it is better.
  /// Throws Error (1) that names `path` if the state is damaged.
  void restore(const caffe::SolverState &state, const std::string &path);

private:
  bool isBetter(double candidate) const;
  std::string stateName() const { return "/best/" + name(); }

  RankedMetric metric;
  std::optional<double> value;
  int iteration = 0; ///< of `value`
};

} // namespace brew::runtime
