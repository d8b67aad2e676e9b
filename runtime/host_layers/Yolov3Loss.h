//===- Yolov3Loss.h - Loss of YOLO 3 ----------------------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kYolov3 = "Yolov3";

/// The type of the loss of one scale of YOLO 3 (see YoloLoss.h), divided by the
/// number of images. True boxes are lists.
const HostLayerType &yolov3Type();

} // namespace brew::runtime
