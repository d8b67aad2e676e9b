//===- MultiBoxLoss.h - MultiBoxLoss: what SSD learns from ------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kMultiBoxLoss = "MultiBoxLoss";

/// Layers of four bottoms: locations, confidences, priors and true boxes. The
/// loss is the sum of that of locations, times loc_weight, and of confidences,
/// divided as loss_param says (by the number of matches); what propagate_down
/// excludes is left out, as in SSD. Gradients are those of the matches that the
/// forward pass has found.
const HostLayerType &multiBoxLossType();

} // namespace brew::runtime
