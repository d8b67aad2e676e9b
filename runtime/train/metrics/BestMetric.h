//===- BestMetric.h - The test result that the best weights have --*- C++ -*-=//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/events/Events.h"
#include "runtime/train/metrics/MetricName.h"

#include <optional>
#include <string>
#include <utility>

namespace brew::runtime {

/// A metric, of --snapshot-best an output of a test net, and the best value
/// that it has had.
class BestMetric {
public:
  /// `text` names an output of a test net (MetricName.h) and, unless that is
  /// known, which values are better. `nets`: how many test nets there are.
  /// Throws Error (2) with the place in the text.
  BestMetric(const std::string &text, const plan::Manifest &manifest, int nets);
  explicit BestMetric(RankedMetric metric) : metric(std::move(metric)) {}

  /// "test.accuracy"
  const std::string &name() const { return metric.name.text; }
  const MetricName &metricName() const { return metric.name; }
  /// Part of file names: "best_test.accuracy".
  std::string fileTag() const;
  /// "test.accuracy, of which higher is better"
  std::string description() const;

  /// Takes a test's results; returns whether they have the best value so far.
  /// NaN is never the best.
  bool improves(const event::TestDone &done);
  /// Likewise a value that was measured after so many iterations.
  bool improves(double candidate, int iteration);
  std::optional<double> best() const { return value; }
  int bestIteration() const { return iteration; }

  /// Adds the best value to a solver state.
  void save(caffe::SolverState &state) const;
  /// Takes the best value of a state of the same metric over if it is better
  /// than what is known. `path` is named if it is damaged (Error 1).
  void restore(const caffe::SolverState &state, const std::string &path);

private:
  bool isBetter(double candidate) const;
  std::string stateName() const { return "/best/" + name(); }

  RankedMetric metric;
  std::optional<double> value;
  int iteration = 0; ///< of `value`
};

} // namespace brew::runtime
