//===- DetectionScores.h - Average precision over a test --------*- C++ -*-===//
//
// What SSD's solver does with eval_type: "detection": outputs are those of
// DetectionEvaluate (host/DetectionEvaluate.h), of which an average precision
// is taken for each class, over all batches.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/executor/Executor.h"
#include "runtime/events/Events.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Ranked detections of one class: score, and whether the detection is true.
using ScoredDetections = std::vector<std::pair<float, bool>>;

/// The area under the curve of precision over recall, of which there are
/// `objects`. `version`: "11point", the mean of the best precisions from each
/// tenth of recall on (VOC 2007); "MaxIntegral", under the best precision at
/// that recall or beyond (VOC 2012); "Integral", under the curve itself. 0 if
/// there are no detections or no objects. Throws Error (1) for more true
/// detections than objects.
float averagePrecision(const ScoredDetections &detections, int objects,
                       const std::string &version);

class DetectionScores {
public:
  /// Throws Error (1) if the program has outputs that are no detections.
  static void checkOutputs(const plan::Manifest &manifest, int program);

  /// Adds the outputs of a program's last run.
  void add(const Executor &executor, int program);

  struct Result {
    std::vector<OutputValue> outputs; ///< the mean over classes of each
    std::vector<event::TestDone::ClassScore> classes;
    /// Of labels that nothing was found of, output by output.
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
