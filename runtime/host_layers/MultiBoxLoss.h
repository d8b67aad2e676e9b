//===- MultiBoxLoss.h - MultiBoxLoss, the loss of SSD -----------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kMultiBoxLoss = "MultiBoxLoss";

/// The type of layers with four bottoms: locations, confidences, priors and
/// ground-truth boxes. The loss is the location loss times loc_weight plus the
/// confidence loss, normalised by loss_param (by default by the number of
/// matches). As in SSD, a loss that propagate_down excludes is not added.
/// Backward uses the matches of the forward pass.
const HostLayerType &multiBoxLossType();

} // namespace brew::runtime
