//===- DetectionEvaluate.h - Which detections are true ----------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kDetectionEvaluate = "DetectionEvaluate";

/// Layers of two bottoms: detections (image, label, score, corners; an image of
/// -1 is a row without one) and true boxes (see MultiBox.h). Rows of the top
/// are image, label, score, true positive, false positive; first one for each
/// class but the background: -1, label, number of true boxes, -1, -1. Rows of
/// zeros fill the top. Neither true nor false is a detection of a difficult
/// object that does not count.
///
/// HostLayerSetup::paramStr is the folder in which a name_size_file is looked up.
const HostLayerType &detectionEvaluateType();

} // namespace brew::runtime
