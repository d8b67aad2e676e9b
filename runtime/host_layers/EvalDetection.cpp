//===- EvalDetection.cpp - True and false positives of YOLO 2 -------------===//

#include "runtime/host_layers/EvalDetection.h"

#include "runtime/detection/Yolo.h"
#include "runtime/host_layers/LayerSettings.h"

#include <algorithm>

namespace brew::runtime {
namespace {

constexpr std::int64_t kEvaluationFields = 4; ///< label, score, true, false

class EvalDetection : public HostLayer {
public:
  explicit EvalDetection(const HostLayerSetup &setup) {
    settings = layerSettings(setup).eval_detection_param();
    const std::int64_t side = settings.side();
    shape = {settings.num_object(), settings.num_class(), side, side};
    using Dims = std::vector<std::int64_t>;
    const auto &bottoms = setup.bottoms;
    const bool fits =
        bottoms.size() >= 2 && bottoms[0].size() == 4 &&
        bottoms[0] == Dims{bottoms[0][0],
                           shape.anchors * (kYoloFields + shape.classes), side,
                           side} &&
        bottoms[1].size() == 4 && bottoms[1][3] == 8 &&
        settings.biases_size() == 2 * static_cast<int>(settings.num_object());
    if (!fits || setup.tops.size() != 1 ||
        setup.tops[0] != Dims{bottoms[0][0], rowSize()})
      throw damagedSettings(setup);
    for (int i = 0; i < settings.biases_size(); i += 2)
      anchors.push_back({settings.biases(i) / static_cast<double>(side),
                         settings.biases(i + 1) / static_cast<double>(side)});
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      evaluate<double>(arguments);
    else
      evaluate<float>(arguments);
  }
  void backward(HostLayerArguments &) override {
    throw Error(ExitStatus::Bug, "EvalDetection has no gradients");
  }

private:
  std::int64_t rowSize() const {
    return shape.classes + kEvaluationFields * shape.boxes();
  }

  template <typename Real> void evaluate(HostLayerArguments &arguments) const {
    const std::int64_t images = arguments.bottoms[0].dims[0];
    const auto truths =
        readTrueRows(static_cast<const Real *>(arguments.bottoms[1].values),
                     arguments.bottoms[1].count / 8, images, shape.classes);
    for (std::int64_t image = 0; image < images; ++image) {
      Real *row =
          static_cast<Real *>(arguments.tops[0].values) + image * rowSize();
      std::fill_n(row, rowSize(), Real(0));
      const auto &own = truths[static_cast<std::size_t>(image)];
      for (const YoloTruth<Real> &truth : own)
        row[truth.label] += 1;
      writeVerdicts(
          detect(static_cast<const Real *>(arguments.bottoms[0].values) +
                 image * shape.count()),
          own, row + shape.classes);
    }
  }

  /// Returns the detections of an image, ordered by label and score.
  template <typename Real>
  std::vector<YoloDetection<Real>> detect(const Real *maps) const {
    using Score = caffe::EvalDetectionParameter;
    constexpr Real kMinScore = Real(0.005); // as in the fork
    std::vector<YoloDetection<Real>> detections;
    for (std::int64_t position = 0; position < shape.positions(); ++position)
      for (std::int64_t anchor = 0; anchor < shape.anchors; ++anchor) {
        const std::vector<Real> classes =
            classProbabilities(shape, maps, anchor, position);
        const auto best = std::max_element(classes.begin(), classes.end());
        Real score = 1;
        if (settings.score_type() != Score::PROB)
          score *= sigmoid(maps[shape.index(anchor, kObject, position)]);
        if (settings.score_type() != Score::OBJ)
          score *= *best;
        // Others can suppress only detections of a lower score.
        if (score >= kMinScore)
          detections.push_back(
              {decodeBox(shape, maps, anchor, position,
                         anchors[static_cast<std::size_t>(anchor)]),
               score, static_cast<int>(best - classes.begin()),
               position * shape.anchors + anchor});
      }
    suppress<Real>(detections, settings.nms(), overlapOf<Real>);
    std::stable_sort(
        detections.begin(), detections.end(),
        [](const auto &a, const auto &b) { return a.label < b.label; });
    return detections;
  }

  template <typename Real>
  void writeVerdicts(const std::vector<YoloDetection<Real>> &detections,
                     const std::vector<YoloTruth<Real>> &truths,
                     Real *verdict) const {
    std::vector<bool> isFound(truths.size(), false);
    for (const YoloDetection<Real> &detection : detections) {
      Real largest = -1;
      std::size_t nearest = truths.size();
      for (std::size_t i = 0; i < truths.size(); ++i) {
        if (truths[i].label != detection.label)
          continue;
        const Real overlap = overlapOf(detection.box, truths[i].box);
        if (overlap > largest) {
          largest = overlap;
          nearest = i;
        }
      }
      const bool hasTruth = std::any_of(truths.begin(), truths.end(),
                                        [&](const YoloTruth<Real> &truth) {
                                          return truth.label == detection.label;
                                        });
      const bool isNear = largest >= settings.threshold();
      const bool isTrue =
          isNear && nearest < truths.size() && !isFound[nearest];
      if (isTrue)
        isFound[nearest] = true;
      verdict[0] = static_cast<Real>(detection.label);
      verdict[1] = detection.score;
      verdict[2] = isTrue;
      verdict[3] = !isTrue && (isNear || !hasTruth);
      verdict += kEvaluationFields;
    }
  }

  caffe::EvalDetectionParameter settings;
  YoloShape shape = {};
  std::vector<YoloAnchor> anchors;
};

class EvalDetectionType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<EvalDetection>(setup);
  }
};

} // namespace

const HostLayerType &evalDetectionType() {
  static const EvalDetectionType type;
  return type;
}

} // namespace brew::runtime
