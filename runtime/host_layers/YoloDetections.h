//===- YoloDetections.h - Detections of YOLO --------------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kYoloDetectionOutput = "YoloDetectionOutput";
inline constexpr const char *kYolov3DetectionOutput = "Yolov3DetectionOutput";

/// The types of layers whose bottoms are the maps of YOLO 2 or 3 at different
/// scales. Their tops are rows of image, label, score and box, ordered by image
/// and score, and the number of rows. Copies of the last valid row, or zeros if
/// there is none, fill the rows. If no image has a detection, there is one row
/// for each: its number, then -1.
///
/// A YoloDetectionOutput with ssd_format, or whose second bottom is not another
/// scale but the images, is that of forks for OpenCL: it has no rows if there
/// is no detection, and without ssd_format, labels from 0 and the centre and
/// size of boxes.
const HostLayerType &yoloDetectionOutputType();
const HostLayerType &yolov3DetectionOutputType();

} // namespace brew::runtime
