//===- Proposal.h - Region proposals of a network ---------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

/// Name of the layer that selects region proposals (see RegionProposals.h). Its
/// bottoms are scores (the background scores of all anchors, then their object
/// scores), offsets, and rows of height, width and scale: one for each image,
/// or one for all. Its tops are rows of image and corners, the scores of the
/// rows if there are three tops, and the number of rows. Copies of the last
/// valid row, or zeros if there is none, fill the tops.
inline constexpr const char *kProposal = "Proposal";

const HostLayerType &proposalType();

} // namespace brew::runtime
