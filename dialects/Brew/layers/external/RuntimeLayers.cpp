//===- RuntimeLayers.cpp - Host layers of the runtime ---------------------===//
//
// Shapes of the layers that are host layers in the plan and whose functions are
// part of the runtime (runtime/host_layers, runtime/detection).
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/external/RuntimeLayers.h"

#include "caffe/ProposalAnchors.h"
#include "formats/Blob.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

using namespace brew::dialects;
using brew::badInput;

namespace {

constexpr int64_t kEvaluationRow = 5; // image, label, score, true, false

} // namespace

brew::caffe::LayerParameter
brew::dialects::settingsOf(const HostLayerSetup &setup) {
  brew::caffe::LayerParameter layer;
  if (!google::protobuf::TextFormat::ParseFromString(setup.settings, &layer))
    throw badInput("its settings cannot be read");
  return layer;
}

std::string brew::dialects::shapeText(const HostLayerSetup &setup,
                                      size_t bottom) {
  return brew::formats::dimsText(
      {setup.bottoms[bottom].begin(), setup.bottoms[bottom].end()});
}

int64_t brew::dialects::countFrom(llvm::ArrayRef<int64_t> shape, size_t axis) {
  int64_t count = 1;
  for (int64_t dim : shape.drop_front(std::min(axis, shape.size())))
    count *= dim;
  return count;
}

void brew::dialects::requireBottoms(const HostLayerSetup &setup, size_t count) {
  if (setup.bottoms.size() != count)
    throw badInput("takes " + std::to_string(count) + " bottoms, but has " +
                   std::to_string(setup.bottoms.size()));
}

void brew::dialects::requireRows(const HostLayerSetup &setup, size_t bottom,
                                 int64_t width, const char *name) {
  const llvm::ArrayRef<int64_t> shape = setup.bottoms[bottom];
  if (shape.size() != 4 || shape[0] != 1 || shape[1] != 1 || shape[3] != width)
    throw badInput("takes " + std::string(name) + " of shape 1x1xNx" +
                   std::to_string(width) + ", not " + shapeText(setup, bottom));
}

namespace {

Shapes multiBoxLossShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 4);
  const auto settings = settingsOf(setup).multibox_loss_param();
  const llvm::ArrayRef<int64_t> loc = setup.bottoms[0], conf = setup.bottoms[1],
                                priors = setup.bottoms[2];
  if (priors.size() < 3 || priors[2] % 4 != 0 ||
      countFrom(priors, 0) != 2 * priors[2])
    throw badInput("takes priors of shape 1x2x(4 * boxes), not " +
                   shapeText(setup, 2));
  const int64_t boxes = priors[2] / 4, classes = settings.num_classes();
  const int64_t perBox = settings.share_location() ? 1 : classes;
  if (loc.empty() || countFrom(loc, 1) != boxes * perBox * 4)
    throw badInput("takes " + std::to_string(boxes * perBox * 4) +
                   " numbers of locations for each image (4 for each of " +
                   std::to_string(boxes) + " priors" +
                   (perBox > 1 ? " and class" : "") + "), not " +
                   shapeText(setup, 0));
  if (conf.empty() || countFrom(conf, 1) != boxes * classes)
    throw badInput("takes " + std::to_string(boxes * classes) +
                   " confidences for each image (" + std::to_string(classes) +
                   " classes for each of " + std::to_string(boxes) +
                   " priors), not " + shapeText(setup, 1));
  if (loc[0] != conf[0])
    throw badInput("locations are of " + std::to_string(loc[0]) +
                   " images and confidences of " + std::to_string(conf[0]));
  requireRows(setup, 3, kBoxRow, "true boxes");
  return {{}};
}

Shapes detectionEvaluateShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  requireRows(setup, 0, kDetectionRow, "detections");
  requireRows(setup, 1, kBoxRow, "true boxes");
  const auto settings = settingsOf(setup).detection_evaluate_param();
  const bool hasBackground =
      settings.background_label_id() < settings.num_classes();
  return {
      {1, 1,
       int64_t(settings.num_classes()) - hasBackground + setup.bottoms[0][2],
       kEvaluationRow}};
}

/// Checks the bottoms of the layer that writes the result files of a
/// DetectionOutput, which has no tops.
Shapes detectionFilesShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  requireRows(setup, 0, kDetectionRow, "detections");
  return {};
}

/// Returns the shapes of the regions, of their scores if there are three tops,
/// and of their number.
Shapes proposalShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 3);
  const auto settings = settingsOf(setup).proposal_param();
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0],
                                offsets = setup.bottoms[1],
                                images = setup.bottoms[2];
  const int64_t anchors = brew::caffe::anchorCount(settings);
  auto require = [&](size_t bottom, const char *name, int64_t perAnchor) {
    const llvm::ArrayRef<int64_t> shape = setup.bottoms[bottom];
    if (shape.size() != 4 || shape[1] != perAnchor * anchors)
      throw badInput("takes " + std::string(name) + " of shape (N, " +
                     std::to_string(perAnchor * anchors) +
                     ", H, W), as a place has " + std::to_string(anchors) +
                     " anchors, not " + shapeText(setup, bottom));
  };
  require(0, "scores", 2);
  require(1, "offsets", 4);
  if (scores[0] != offsets[0] || scores.drop_front(2) != offsets.drop_front(2))
    throw badInput("scores have shape " + shapeText(setup, 0) +
                   " and offsets " + shapeText(setup, 1));
  if (images.size() < 2 || (images[0] != 1 && images[0] != scores[0]) ||
      images[1] < 3 || countFrom(images, 2) != 1)
    throw badInput("takes a row of height, width and scale for each image, or "
                   "one for all, not " +
                   shapeText(setup, 2));
  const int64_t rows = scores[0] * settings.post_nms_topn();
  Shapes tops = {{rows, 5}};
  if (setup.tops == 3)
    tops.push_back({rows});
  tops.push_back({1});
  return tops;
}

/// Throws unless the bottoms are scores of three dimensions, whose dimension
/// `itemAxis` is that of the items, and a row of labels for each item.
void requireSequences(const HostLayerSetup &setup, size_t itemAxis,
                      const char *scoresText) {
  requireBottoms(setup, 2);
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0],
                                labels = setup.bottoms[1];
  if (scores.size() != 3)
    throw badInput("takes scores of shape " + std::string(scoresText) +
                   ", not " + shapeText(setup, 0));
  if (labels.size() < 2 || labels[0] != scores[itemAxis])
    throw badInput("takes labels of shape (N, L) for the " +
                   std::to_string(scores[itemAxis]) + " items, not " +
                   shapeText(setup, 1));
}

/// Throws unless the blank label of a loss is in its alphabet, the last
/// dimension of the scores.
void requireBlank(const HostLayerSetup &setup) {
  const int64_t blank = settingsOf(setup).ctc_loss_param().blank_label(),
                alphabet = setup.bottoms[0][2];
  if (blank >= alphabet)
    throw badInput("blank_label " + std::to_string(blank) +
                   " is not in the alphabet of " + std::to_string(alphabet) +
                   " labels");
}

Shapes ctcLossShapes(const HostLayerSetup &setup) {
  requireSequences(setup, 1, "(T, N, alphabet)");
  requireBlank(setup);
  const auto settings = settingsOf(setup).ctc_loss_param();
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0];
  if (settings.has_time_step() && (scores[0] != settings.time_step() ||
                                   scores[2] != settings.alphabet_size()))
    throw badInput("takes scores of " + std::to_string(settings.time_step()) +
                   " time steps (time_step) and " +
                   std::to_string(settings.alphabet_size()) +
                   " labels (alphabet_size), not " + shapeText(setup, 0));
  return {{}};
}

/// Throws unless the first bottom are scores of each time step and item.
void requireScores(const HostLayerSetup &setup) {
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0];
  if (scores.size() < 3 || countFrom(scores, 3) != 1)
    throw badInput("takes scores of shape (T, N, alphabet), not " +
                   shapeText(setup, 0));
}

/// Checks the bottoms of caffe-ctc's layers: scores, indicators and, except for
/// a decoder without them, labels.
void requireIndicatedSequences(const HostLayerSetup &setup) {
  requireScores(setup);
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0];
  const std::string other = setup.bottoms.size() == 2 && setup.tops == 1
                                ? ", or labels of shape (N, L)"
                                : "";
  for (size_t i = 1; i < setup.bottoms.size(); ++i) {
    const llvm::ArrayRef<int64_t> bottom = setup.bottoms[i];
    if (bottom.size() < 2 || bottom.take_front(2) != scores.take_front(2) ||
        countFrom(bottom, 2) != 1)
      throw badInput("takes " +
                     std::string(i == 1 ? "sequence indicators" : "labels") +
                     " of shape (T, N), as the scores" + other + ", not " +
                     shapeText(setup, i));
  }
}

Shapes indicatedCtcLossShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 3);
  requireIndicatedSequences(setup);
  requireBlank(setup);
  return {{}};
}

/// Returns whether the second bottom of a decoder are labels (N, L), from which
/// caffe_ocr computes accuracies, instead of sequence indicators (T, N).
bool hasLabelRows(const HostLayerSetup &setup) {
  if (setup.bottoms.size() != 2 || setup.tops != 1)
    return false;
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0],
                                labels = setup.bottoms[1];
  return labels.size() >= 2 && labels[0] == scores[1] &&
         countFrom(labels, 2) == 1 &&
         labels.take_front(2) != scores.take_front(2);
}

/// Returns the shapes of the decoded labels, of their scores if there are two
/// bottoms or three tops, and of the accuracy if there are three bottoms.
/// caffe_ocr's decoder has one top: the labels, or two accuracies.
Shapes ctcDecoderShapes(const HostLayerSetup &setup) {
  requireScores(setup);
  if (hasLabelRows(setup))
    return {{1, 2, 1, 1}};
  requireIndicatedSequences(setup);
  const int64_t steps = setup.bottoms[0][0], items = setup.bottoms[0][1];
  Shapes tops = {{items, steps, 1, 1}};
  if (setup.tops == 3 || (setup.tops == 2 && setup.bottoms.size() == 2))
    tops.push_back({items, 1, 1, 1});
  if (setup.tops > 1 && setup.bottoms.size() == 3)
    tops.push_back({1, 1, 1, 1});
  return tops;
}

Shapes labelsequenceAccuracyShapes(const HostLayerSetup &setup) {
  requireSequences(setup, 0, "(N, T, alphabet)");
  return {{}};
}

Shapes segAccuracyShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  const llvm::ArrayRef<int64_t> scores = setup.bottoms[0],
                                labels = setup.bottoms[1];
  if (scores.size() != 4)
    throw badInput("takes scores of shape (N, classes, H, W), not " +
                   shapeText(setup, 0));
  if (labels.size() != 4 || labels[0] != scores[0] || labels[1] != 1 ||
      labels.drop_front(2) != scores.drop_front(2))
    throw badInput("takes labels of shape (N, 1, H, W) for scores of shape " +
                   shapeText(setup, 0) + ", not " + shapeText(setup, 1));
  return {{1, 1, 1, 3}};
}

/// Returns the shapes of the rows of detections, and of their number. A row
/// with landmarks has 10 more numbers.
Shapes centernetDetectionShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  const auto settings = settingsOf(setup).detection_output_param();
  const llvm::ArrayRef<int64_t> boxes = setup.bottoms[0],
                                scores = setup.bottoms[1];
  const int64_t numbers = settings.has_lm() ? 14 : 4;
  const int64_t classes = int64_t(settings.num_classes()) - 1;
  if (boxes.size() != 4 || boxes[1] != numbers)
    throw badInput("takes boxes of shape (N, " + std::to_string(numbers) +
                   ", H, W), not " + shapeText(setup, 0));
  if (scores.size() != 4 || scores[0] != boxes[0] || scores[1] != classes ||
      scores.drop_front(2) != boxes.drop_front(2))
    throw badInput("takes scores of " + std::to_string(classes) +
                   " classes (num_classes without background) for boxes of "
                   "shape " +
                   shapeText(setup, 0) + ", not " + shapeText(setup, 1));
  int64_t rows = countFrom(scores, 1);
  if (settings.keep_top_k() > 0)
    rows = std::min<int64_t>(rows, settings.keep_top_k());
  return {{1, 1, boxes[0] * rows, kDetectionRow + numbers - 4}, {1}};
}

/// Returns the shapes of the spatial and of the bilateral filter's result.
/// brew.mean_field has checked the bottoms, image and probabilities.
Shapes meanFieldShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  return {setup.bottoms[1], setup.bottoms[1]};
}

Shapes noTops(const HostLayerSetup &) { return {}; }

} // namespace

const HostLayerType *
brew::dialects::findBuiltinHostLayer(const std::string &name) {
  // Marks padding rows, which have no image, label or score.
  constexpr double kPaddingValue = -1;
  static const HostLayerTypes types = {
      {"CTCGreedyDecoder", ctcDecoderShapes, false, {}},
      {"CTCLoss", indicatedCtcLossShapes, true, {}},
      {"CenternetDetectionOutput", centernetDetectionShapes, false, {}},
      {"CtcLoss", ctcLossShapes, true, {}},
      {"DetectionEvaluate", detectionEvaluateShapes, false, kPaddingValue},
      {"DetectionOutput", detectionFilesShapes, false, kPaddingValue},
      {"EvalDetection", evalDetectionShapes, false, {}},
      {"HDF5Output", noTops, true, {}},
      {"LabelsequenceAccuracy", labelsequenceAccuracyShapes, false, {}},
      {"MultiBoxLoss", multiBoxLossShapes, true, {}},
      {"MultiStageMeanfield", meanFieldShapes, true, {}},
      {"Proposal", proposalShapes, false, {}},
      {"RegionLoss", regionLossShapes, true, {}},
      {"SegAccuracy", segAccuracyShapes, false, {}},
      {"YoloDetectionOutput", yoloDetectionShapes, false, {}},
      {"Yolov3", yolov3Shapes, true, {}},
      {"Yolov3DetectionOutput", yolov3DetectionShapes, false, {}},
  };
  for (const HostLayerType &type : types)
    if (type.name == name)
      return &type;
  return nullptr;
}
