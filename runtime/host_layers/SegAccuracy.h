//===- SegAccuracy.h - Accuracies of semantic segmentation ------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kSegAccuracy = "SegAccuracy";

/// The type of DeepLab's layers with two bottoms: scores (N, classes, H, W) and
/// labels (N, 1, H, W). The top consists of the fraction of correct pixels, the
/// mean over the classes of that fraction, and the mean over the classes of
/// intersection over union. Classes without pixels do not count in the first
/// mean, and have the intersection over union 1. With `reset: false`, the
/// pixels of all previous runs count too.
const HostLayerType &segAccuracyType();

} // namespace brew::runtime
