//===- DetectionEvaluate.h - Evaluation of detections -----------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kDetectionEvaluate = "DetectionEvaluate";

/// The type of layers with two bottoms: detections (image, label, score,
/// corners; an image of -1 is an empty row) and ground-truth boxes (see
/// MultiBox.h). The top begins with a row for each class except the background:
/// -1, label, number of ground-truth boxes, -1, -1. A row for each detection
/// follows: image, label, score, true positive, false positive. Rows of zeros
/// fill the rest of the top. Unless evaluate_difficult_gt is set, detections of
/// difficult objects are neither true nor false positives.
///
/// HostLayerSetup::paramStr is the folder in which a name_size_file is looked
/// up.
const HostLayerType &detectionEvaluateType();

} // namespace brew::runtime
