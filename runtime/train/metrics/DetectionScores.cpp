//===- DetectionScores.cpp - Average precision of detections --------------===//

#include "runtime/train/metrics/DetectionScores.h"

#include "caffe/weights/BufferLayout.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

constexpr int kRowFields = 5; // image, label, score, true and false positive
constexpr float kTolerance = 1e-6F; // recalls that differ by less are equal

struct Curve {
  std::vector<float> precision, recall;
};

Curve curveOf(ScoredDetections detections, int objects) {
  std::stable_sort(
      detections.begin(), detections.end(),
      [](const auto &a, const auto &b) { return a.first > b.first; });
  Curve curve;
  int truePositives = 0, detectionCount = 0;
  for (const auto &[score, isTrue] : detections) {
    truePositives += isTrue;
    ++detectionCount;
    curve.precision.push_back(static_cast<float>(truePositives) /
                              detectionCount);
    curve.recall.push_back(static_cast<float>(truePositives) / objects);
  }
  if (truePositives > objects)
    throw badInput("there are more true positives than objects");
  return curve;
}

float averageElevenPoints(const Curve &curve) {
  constexpr int kPoints = 11;
  float best[kPoints] = {};
  int from = static_cast<int>(curve.recall.size()) - 1;
  for (int j = kPoints - 1; j >= 0; --j)
    for (int i = from; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      if (curve.recall[at] < j / 10.) {
        from = i;
        if (j > 0)
          best[j - 1] = best[j];
        break;
      }
      best[j] = std::max(best[j], curve.precision[at]);
    }
  float sum = 0;
  for (int j = kPoints - 1; j >= 0; --j)
    sum += best[j] / kPoints;
  return sum;
}

float integrateMaximum(const Curve &curve) {
  float recall = curve.recall.back(), precision = curve.precision.back();
  float sum = 0;
  for (std::size_t i = curve.recall.size() - 1; i-- > 0;) {
    precision = std::max(curve.precision[i], precision);
    if (std::fabs(recall - curve.recall[i]) > kTolerance)
      sum += precision * std::fabs(recall - curve.recall[i]);
    recall = curve.recall[i];
  }
  return sum + recall * precision;
}

float integrate(const Curve &curve) {
  float recall = 0, sum = 0;
  for (std::size_t i = 0; i < curve.recall.size(); ++i) {
    if (std::fabs(curve.recall[i] - recall) > kTolerance)
      sum += curve.precision[i] * std::fabs(curve.recall[i] - recall);
    recall = curve.recall[i];
  }
  return sum;
}

} // namespace

float averagePrecision(const ScoredDetections &detections, int objects,
                       const std::string &version) {
  if (detections.empty() || objects == 0)
    return 0;
  const Curve curve = curveOf(detections, objects);
  if (version == "11point")
    return averageElevenPoints(curve);
  if (version == "MaxIntegral")
    return integrateMaximum(curve);
  return integrate(curve);
}

void DetectionScores::checkOutputs(const plan::Manifest &manifest,
                                   int program) {
  for (const plan::Output &output : manifest.programs(program).outputs()) {
    const plan::Buffer &buffer =
        manifest.buffers(static_cast<int>(output.buffer_index()));
    if (buffer.dims_size() != 4 || buffer.dims(3) != kRowFields)
      throw badInput("solver: eval_type 'detection' takes test nets whose "
                     "outputs are those of DetectionEvaluate layers; '" +
                     output.blob() + "' of '" +
                     manifest.programs(program).name() + "' is none");
  }
}

void DetectionScores::add(const Executor &executor, int program) {
  const plan::Manifest &manifest = executor.manifest();
  const auto &descriptions = manifest.programs(program).outputs();
  outputs.resize(static_cast<std::size_t>(descriptions.size()));
  for (int j = 0; j < descriptions.size(); ++j) {
    Output &output = outputs[static_cast<std::size_t>(j)];
    output.blob = descriptions.Get(j).blob();
    const std::uint32_t index = descriptions.Get(j).buffer_index();
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    std::vector<float> rows(
        static_cast<std::size_t>(plan::elementCount(buffer)));
    executor.read(index, [&](const std::byte *bytes) {
      caffe::load(buffer, bytes, rows.data());
    });
    for (std::size_t i = 0; i + kRowFields <= rows.size(); i += kRowFields) {
      const float *row = &rows[i];
      const int label = static_cast<int>(row[1]);
      const bool isTrue = row[3] != 0, isFalse = row[4] != 0;
      if (static_cast<int>(row[0]) == -1)
        output.objects[label] += static_cast<int>(row[2]);
      // Skip detections of difficult objects, and rows that fill the top.
      else if (isTrue || isFalse)
        output.detections[label].emplace_back(row[2], isTrue);
    }
  }
}

DetectionScores::Result
DetectionScores::result(const std::string &version) const {
  Result result;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    const Output &output = outputs[j];
    float sum = 0;
    for (const auto &[label, objects] : output.objects) {
      const auto found = output.detections.find(label);
      if (found == output.detections.end()) {
        result.missing.push_back(label);
        continue;
      }
      const float score = averagePrecision(found->second, objects, version);
      result.classes.push_back({j, label, score});
      sum += score;
    }
    if (!output.objects.empty())
      sum /= static_cast<float>(output.objects.size());
    result.outputs.push_back({output.blob, sum, 0});
  }
  return result;
}

} // namespace brew::runtime
