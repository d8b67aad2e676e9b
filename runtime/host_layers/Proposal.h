//===- Proposal.h - Regions that a network proposes -------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

/// Reads scores (of the background, then of objects, for each anchor), offsets
/// and a row of height, width and scale for each image or for all. Writes rows
/// of image and corners, their scores if there are three tops, and how many
/// there are; the last one that counts is repeated behind them, or zeros if
/// none does.
inline constexpr const char *kProposal = "Proposal";

const HostLayerType &proposalType();

} // namespace brew::runtime
