//===- DetectionScores.h - Average precision of detections ------*- C++ -*-===//
//
// Computes the test results of SSD's solver with eval_type: "detection": the
// outputs are those of DetectionEvaluate
// (runtime/host_layers/DetectionEvaluate.h), and each class gets an average
// precision over all batches.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/events/Events.h"
#include "runtime/executor/Executor.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// The detections of one class: score, and whether it is a true positive.
using ScoredDetections = std::vector<std::pair<float, bool>>;

/// Returns the average precision: the area under the precision-recall curve of
/// a class with `objects` objects.
/// `version`: "11point", the mean of the best precisions from each tenth of
/// recall on (VOC 2007); "MaxIntegral", the area under the best precision at
/// that recall or beyond (VOC 2012); "Integral", the area under the curve
/// itself. Returns 0 if there are no detections or no objects. Throws Error (1)
/// for more true positives than objects.
float averagePrecision(const ScoredDetections &detections, int objects,
                       const std::string &version);

/// The detections and objects of all batches of a test.
class DetectionScores {
public:
  /// Throws Error (1) if an output of the program is not a DetectionEvaluate
  /// top.
  static void checkOutputs(const plan::Manifest &manifest, int program);

  /// Adds the outputs of a program's last run.
  void add(const Executor &executor, int program);

  struct Result {
    std::vector<OutputValue> outputs; ///< the mean over classes, per output
    std::vector<event::TestDone::ClassScore> classes;
    /// Labels without detections, output by output.
    std::vector<int> missing;
  };
  Result result(const std::string &version) const;

private:
  struct Output {
    std::string blob;
    std::map<int, int> objects; ///< by label
    std::map<int, ScoredDetections> detections;
  };
  std::vector<Output> outputs;
};

} // namespace brew::runtime
