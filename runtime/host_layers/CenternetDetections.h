//===- CenternetDetections.h - Detections of CenterNet ----------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kCenternetDetections = "CenternetDetectionOutput";

/// The type of layers whose bottoms are boxes [N, 4, H, W] (the centre's offset
/// from the position, and the logarithm of the size, in units of a position),
/// or boxes and 10 numbers of landmarks, and the scores of the classes without
/// background. Their tops are rows of image, label, score and corners, followed
/// by landmarks, if any, and the number of rows. The rows are ordered by image
/// and score. Copies of the last valid row fill the rows. If no image has a
/// detection, there is one row for each: its number, then -1.
///
/// As in the fork, scores of 1 and more are not detections, overlaps use the
/// areas of unclipped boxes, and landmarks are not divided by the size of the
/// image.
const HostLayerType &centernetDetectionsType();

} // namespace brew::runtime
