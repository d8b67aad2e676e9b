//===- YoloLosses.h - Losses of YOLO ----------------------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kRegionLoss = "RegionLoss";
inline constexpr const char *kYolov3 = "Yolov3";

/// The types of the losses of YOLO 2 and 3. Bottoms are the maps of one scale
/// and the true boxes: for each image, a list of label (from 0), centre and
/// size, which ends before the first box without width. A RegionLoss also takes
/// rows of image, label (from 1), instance, corners and a last field, and is
/// then Intel Caffe's.
///
/// The loss is the sum of the squares of *deltas*, divided by the number of
/// images (not in Intel Caffe). The gradient is, as in the forks, delta by
/// number of images, which is not the derivative of the displayed loss: most
/// deltas are gradients of other losses.
const HostLayerType &regionLossType();
const HostLayerType &yolov3Type();

} // namespace brew::runtime
