//===- Proposal.h - Region proposals of a network ---------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

/// Name of the layer that reads scores (for each anchor the background's, then
/// the objects'), offsets, and a row of height, width and scale for each image
/// or for all. Writes rows of image and corners, their scores if there are
/// three tops, and the number of rows. Repeats the last valid row, or zeros if
/// there is none, to fill the tops.
inline constexpr const char *kProposal = "Proposal";

const HostLayerType &proposalType();

} // namespace brew::runtime
