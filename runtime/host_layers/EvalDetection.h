//===- EvalDetection.h - True and false positives of YOLO 2 -----*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

/// Name of Intel Caffe's evaluation of YOLO 2. Its bottoms are the maps, rows
/// of true boxes (image, label, instance, corners, a last field), and
/// optionally the images. The row of an image in its top are the numbers of
/// true boxes of each class, then label, score, and whether it is a true and a
/// false positive, of each detection that remains after suppression, ordered by
/// label and score; then zeros. A detection that overlaps true boxes of its
/// class, but none enough, is neither.
inline constexpr const char *kEvalDetection = "EvalDetection";

const HostLayerType &evalDetectionType();

} // namespace brew::runtime
