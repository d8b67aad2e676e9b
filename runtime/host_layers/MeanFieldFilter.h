//===- MeanFieldFilter.h - Filters of mean-field inference ------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kMeanFieldFilter = "MultiStageMeanfield";

/// The type of the filters in the iterations of CRF-RNN. The bottoms are an
/// image [N, 3, H, W] and values of its pixels [N, C, H, W]. The tops are the
/// values filtered by a Gaussian of the pixels' positions, and by one of their
/// positions and colours, each divided by the filtered constant 1. Only the
/// values have a gradient.
const HostLayerType &meanFieldFilterType();

} // namespace brew::runtime
