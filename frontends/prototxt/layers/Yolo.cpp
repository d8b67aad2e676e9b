//===- Yolo.cpp - Losses and detections of YOLO ---------------------------===//
//
// Layers of MobileNet-YOLO, Intel Caffe and Intel's fork for OpenCL.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

#include "support/JoinNames.h"
#include "support/NumberText.h"

#include <cmath>
#include <initializer_list>

namespace brew::prototxt {

namespace {

/// Reports a field below 1.
void checkPositiveCount(LayerChecker &c, const LayerChecker::Message &settings,
                        const std::string &field) {
  const auto *descriptor = settings.GetDescriptor()->FindFieldByName(field);
  if (settings.GetReflection()->GetUInt32(settings, descriptor) == 0)
    c.error(settings, field, field + " is 0; it must be at least 1");
}

/// Checks `biases`, pairs of width and height, of `anchors` anchors; of any
/// number if -1.
void checkBiases(LayerChecker &c, const LayerChecker::Message &settings,
                 std::int64_t anchors, const std::string &source) {
  const auto *reflection = settings.GetReflection();
  const auto *field = settings.GetDescriptor()->FindFieldByName("biases");
  const int count = reflection->FieldSize(settings, field);
  if (count == 0)
    c.reportMissing(settings, "biases");
  else if (anchors >= 0 && count != 2 * anchors)
    c.error(settings, "biases",
            "biases is given " +
                countWithNoun(static_cast<size_t>(count), "time") +
                "; it takes a width and a height for each of " +
                std::to_string(anchors) + " anchors (" + source + ")");
  else if (count % 2 != 0)
    c.error(settings, "biases",
            "biases takes a width and a height for each anchor; one is missing",
            count - 1);
  for (int i = 0; i < count; ++i) {
    const float value = reflection->GetRepeatedFloat(settings, field, i);
    if (!(value > 0) || std::isinf(value))
      c.error(settings, "biases", "biases must be positive", i);
  }
}

/// Checks `mask`, the numbers of `count` anchors.
template <typename Settings>
void checkMask(LayerChecker &c, const Settings &settings, std::int64_t count,
               const std::string &source) {
  if (settings.mask_size() != count) {
    c.error(
        settings, "mask",
        "mask is given " +
            countWithNoun(static_cast<size_t>(settings.mask_size()), "time") +
            "; it takes " + std::to_string(count) + " anchors (" + source +
            ")");
    return;
  }
  for (int i = 0; i < settings.mask_size(); ++i)
    if (settings.mask(i) >=
        static_cast<std::uint32_t>(settings.biases_size() / 2))
      c.error(settings, "mask",
              "mask " + std::to_string(settings.mask(i)) +
                  " is not one of the " +
                  std::to_string(settings.biases_size() / 2) +
                  " anchors of biases, which are numbered from 0",
              i);
}

template <typename Settings>
void checkThresholds(LayerChecker &c, const Settings &settings) {
  if (!(settings.confidence_threshold() >= 0))
    c.error(settings, "confidence_threshold",
            "confidence_threshold must not be negative");
  if (!(settings.nms_threshold() >= 0 && settings.nms_threshold() <= 1))
    c.error(settings, "nms_threshold", "nms_threshold must be from 0 to 1");
}

/// Warns of the fields that are given and have no effect.
void warnOfIneffective(LayerChecker &c, const LayerChecker::Message &settings,
                       std::initializer_list<const char *> fields,
                       const std::string &reason) {
  std::vector<std::string> given;
  for (const char *field : fields)
    if (c.locations.find(settings, field))
      given.emplace_back(field);
  if (!given.empty())
    c.warn(settings, given.front(),
           joinNames(given, "and") + (given.size() > 1 ? " have" : " has") +
               " no effect" + reason);
}

void checkCoords(LayerChecker &c, const LayerChecker::Message &settings,
                 std::uint32_t coords) {
  if (coords != 4)
    c.error(settings, "coords", "coords must be 4: centre and size");
}

void refuseLabelGradient(LayerChecker &c) {
  if (c.layer.propagate_down_size() > 1 && c.layer.propagate_down(1))
    c.error(c.layer, "propagate_down", "no gradient can reach the true boxes",
            1);
}

//===----------------------------------------------------------------------===//
// Detections
//===----------------------------------------------------------------------===//

void checkYoloDetections(LayerChecker &c) {
  const auto &settings = c.layer.yolo_detection_output_param();
  c.count(settings, "num_classes");
  checkPositiveCount(c, settings, "num_box");
  checkCoords(c, settings, settings.coords());
  checkThresholds(c, settings);
  checkBiases(c, settings, settings.num_box(), "num_box");
  if (settings.visualize())
    c.unsupported(settings, "visualize", "drawing detections is not supported");
  warnOfIneffective(c, settings, {"side"}, ": the shape of the bottom counts");
  warnOfIneffective(c, settings,
                    {"label_map_file", "save_file", "visualize_threshold"},
                    " on the detections");
}

void checkYolov3Detections(LayerChecker &c) {
  const auto &settings = c.layer.yolov3_detection_output_param();
  c.count(settings, "num_classes");
  checkPositiveCount(c, settings, "num_box");
  checkThresholds(c, settings);
  checkBiases(c, settings, -1, "");
  const int bottoms = c.layer.bottom_size();
  if (settings.mask_group_num() != static_cast<std::uint32_t>(bottoms))
    c.error(settings, "mask_group_num",
            "mask_group_num is " + std::to_string(settings.mask_group_num()) +
                ", but there " + (bottoms == 1 ? "is " : "are ") +
                countWithNoun(static_cast<size_t>(bottoms), "bottom"));
  checkMask(c, settings, std::int64_t(bottoms) * settings.num_box(),
            "num_box for each bottom");
  if (settings.anchors_scale_size() != bottoms)
    c.error(
        settings, "anchors_scale",
        "anchors_scale is given " +
            countWithNoun(static_cast<size_t>(settings.anchors_scale_size()),
                          "time") +
            "; it takes one for each bottom");
  for (int i = 0; i < settings.anchors_scale_size(); ++i)
    if (settings.anchors_scale(i) == 0)
      c.error(settings, "anchors_scale",
              "anchors_scale is 0; it must be at least 1", i);
  if (settings.gaussian_box())
    c.unsupported(settings, "gaussian_box",
                  "boxes of Gaussian YOLO are not supported");
}

void checkEvalDetection(LayerChecker &c) {
  const auto &settings = c.layer.eval_detection_param();
  for (const char *field : {"side", "num_class", "num_object"})
    checkPositiveCount(c, settings, field);
  checkBiases(c, settings, settings.num_object(), "num_object");
  if (!settings.has_nms())
    c.reportMissing(settings, "nms");
  else if (!(settings.nms() >= 0 && settings.nms() <= 1))
    c.error(settings, "nms",
            "nms must be from 0 to 1; without suppression, Intel Caffe "
            "evaluates nothing");
  warnOfIneffective(c, settings, {"constriant", "sqrt"}, ", as in Intel Caffe");
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

void checkRegionLoss(LayerChecker &c) {
  const auto &settings = c.layer.region_loss_param();
  checkPositiveCount(c, settings, "num_class");
  checkPositiveCount(c, settings, "num");
  checkCoords(c, settings, settings.coords());
  checkBiases(c, settings, settings.num(), "num");
  if (settings.softmax() == 0)
    c.error(settings, "softmax",
            "softmax: 0 is not supported: the probabilities of the forks are "
            "always a softmax");
  if (!settings.softmax_tree().empty())
    c.unsupported(settings, "softmax_tree",
                  "hierarchies of classes are not supported");
  if (!settings.class_map().empty())
    c.unsupported(settings, "class_map", "class_map is not supported");
  warnOfIneffective(c, settings, {"side"}, ": the shape of the bottom counts");
  warnOfIneffective(c, settings, {"absolute", "jitter", "random"},
                    " on the loss, as in Caffe's forks");
  refuseLabelGradient(c);
}

void checkYolov3(LayerChecker &c) {
  using Settings = caffe::Yolov3Parameter;
  const Settings &settings = c.layer.yolov3_param();
  for (const char *field : {"num_class", "num", "anchors_scale"})
    checkPositiveCount(c, settings, field);
  checkBiases(c, settings, -1, "");
  checkMask(c, settings, settings.num(), "num");
  if (settings.iou_loss() != Settings::MSE)
    c.unsupported(settings, "iou_loss",
                  "iou_loss: " + Settings::IOU_LOSS_Name(settings.iou_loss()) +
                      " is not supported; only MSE is");
  if (!(settings.label_smooth_eps() >= 0 && settings.label_smooth_eps() <= 1))
    c.error(settings, "label_smooth_eps",
            "label_smooth_eps must be from 0 to 1");
  warnOfIneffective(c, settings, {"side"}, ": the shape of the bottom counts");
  warnOfIneffective(c, settings, {"iou_normalizer", "max_delta", "accumulate"},
                    " with iou_loss: MSE");
  if (settings.has_noobject_scale() && settings.noobject_scale() != 1)
    c.warn(settings, "noobject_scale",
           "noobject_scale has no effect, as in MobileNet-YOLO: the factor is "
           "1");
  if (!settings.use_logic_gradient() && settings.has_object_scale() &&
      settings.object_scale() != 1)
    c.warn(settings, "object_scale",
           "object_scale has no effect without use_logic_gradient, as in "
           "MobileNet-YOLO: the factor is 1");
  refuseLabelGradient(c);
}

} // namespace

LayerRows yoloLayers() {
  return {
      LayerKind{"EvalDetection", 2, 3, 1, 1, "eval_detection_param"}.checkedBy(
          checkEvalDetection),
      lossKind("RegionLoss", 2, 2, 1, "region_loss_param")
          .differentiatingBottoms(1)
          .checkedBy(checkRegionLoss),
      LayerKind{"YoloDetectionOutput", 1, 2, 1, 1,
                "yolo_detection_output_param"}
          .checkedBy(checkYoloDetections),
      lossKind("Yolov3", 2, 2, 1, "yolov3_param")
          .differentiatingBottoms(1)
          .checkedBy(checkYolov3),
      LayerKind{"Yolov3DetectionOutput", 1, -1, 1, 1,
                "yolov3_detection_output_param"}
          .checkedBy(checkYolov3Detections),
  };
}

} // namespace brew::prototxt
