//===- RegionLoss.h - Loss of YOLO 2 ----------------------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kRegionLoss = "RegionLoss";

/// The type of YOLO 2's loss (see YoloLoss.h), divided by the number of images.
/// With rows of true boxes, it is Intel Caffe's, which is not divided.
const HostLayerType &regionLossType();

} // namespace brew::runtime
