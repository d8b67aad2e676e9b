//===- YoloLayers.cpp - Shapes of the layers of YOLO ----------------------===//
#include "dialects/Brew/layers/external/RuntimeLayers.h"

#include "support/Error.h"

#include <algorithm>

using namespace brew::dialects;
using brew::badInput;

namespace {

constexpr int64_t kFields = 5; // of an anchor: box and object; classes follow

/// Returns whether a bottom has the maps of `boxes` anchors for a position.
bool isMap(llvm::ArrayRef<int64_t> shape, int64_t boxes, int64_t classes) {
  return shape.size() == 4 && shape[1] == boxes * (kFields + classes);
}

void requireMap(const HostLayerSetup &setup, size_t bottom, int64_t boxes,
                int64_t classes) {
  if (!isMap(setup.bottoms[bottom], boxes, classes))
    throw badInput("takes maps of shape (N, " +
                   std::to_string(boxes * (kFields + classes)) +
                   ", H, W), as a position has " + std::to_string(boxes) +
                   " boxes with 5 numbers and " + std::to_string(classes) +
                   " classes each, not " + shapeText(setup, bottom));
  if (setup.bottoms[bottom][0] != setup.bottoms[0][0])
    throw badInput("its maps are of " + std::to_string(setup.bottoms[0][0]) +
                   " and of " + std::to_string(setup.bottoms[bottom][0]) +
                   " images");
}

/// Returns the shapes of the rows of detections in `maps` bottoms, and of
/// their number. Each box is at most one detection.
Shapes detectionShapes(const HostLayerSetup &setup, size_t maps,
                       int64_t boxes) {
  int64_t rows = 0;
  for (const auto &shape : setup.bottoms.take_front(maps))
    rows += shape[0] * boxes * countFrom(shape, 2);
  // Without detections, each image has a row.
  return {{1, 1, std::max(rows, setup.bottoms[0][0]), kDetectionRow}, {1}};
}

bool hasTrueRows(llvm::ArrayRef<int64_t> shape) {
  return shape.size() == 4 && shape[0] == 1 && shape[1] == 1 &&
         shape[3] == kBoxRow;
}

/// Throws unless a bottom has a list of boxes for each image.
void requireTrueLists(const HostLayerSetup &setup, const char *alternative) {
  const llvm::ArrayRef<int64_t> shape = setup.bottoms[1];
  if (hasTrueRows(shape) || shape.size() < 2 ||
      shape[0] != setup.bottoms[0][0] || countFrom(shape, 1) % 5 != 0)
    throw badInput("takes true boxes with a multiple of 5 numbers (class, x, "
                   "y, width, height) for each of " +
                   std::to_string(setup.bottoms[0][0]) + " images" +
                   alternative + ", not " + shapeText(setup, 1));
}

} // namespace

Shapes brew::dialects::yoloDetectionShapes(const HostLayerSetup &setup) {
  const auto settings = settingsOf(setup).yolo_detection_output_param();
  const int64_t boxes = settings.num_box(), classes = settings.num_classes();
  requireMap(setup, 0, boxes, classes);
  const bool hasSecondMap = setup.bottoms.size() == 2 &&
                            !settings.ssd_format() &&
                            isMap(setup.bottoms[1], boxes, classes);
  if (hasSecondMap)
    requireMap(setup, 1, boxes, classes);
  return detectionShapes(setup, hasSecondMap ? 2 : 1, boxes);
}

Shapes brew::dialects::yolov3DetectionShapes(const HostLayerSetup &setup) {
  const auto settings = settingsOf(setup).yolov3_detection_output_param();
  for (size_t i = 0; i < setup.bottoms.size(); ++i)
    requireMap(setup, i, settings.num_box(), settings.num_classes());
  return detectionShapes(setup, setup.bottoms.size(), settings.num_box());
}

Shapes brew::dialects::regionLossShapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  const auto settings = settingsOf(setup).region_loss_param();
  requireMap(setup, 0, settings.num(), settings.num_class());
  if (!hasTrueRows(setup.bottoms[1]))
    requireTrueLists(setup, ", or boxes of shape 1x1xNx8");
  return {{}};
}

Shapes brew::dialects::yolov3Shapes(const HostLayerSetup &setup) {
  requireBottoms(setup, 2);
  const auto settings = settingsOf(setup).yolov3_param();
  requireMap(setup, 0, settings.num(), settings.num_class());
  requireTrueLists(setup, "");
  return {{}};
}

Shapes brew::dialects::evalDetectionShapes(const HostLayerSetup &setup) {
  const auto settings = settingsOf(setup).eval_detection_param();
  const int64_t boxes = settings.num_object(), classes = settings.num_class();
  const int64_t side = settings.side();
  requireMap(setup, 0, boxes, classes);
  const llvm::ArrayRef<int64_t> maps = setup.bottoms[0];
  if (maps[2] != side || maps[3] != side)
    throw badInput("takes maps of " + std::to_string(side) + "x" +
                   std::to_string(side) + " positions (side), not " +
                   shapeText(setup, 0));
  requireRows(setup, 1, kBoxRow, "true boxes");
  return {{maps[0], classes + 4 * boxes * side * side}};
}
