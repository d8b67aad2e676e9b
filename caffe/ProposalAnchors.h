//===- ProposalAnchors.h - Anchors of Proposal layers -----------*- C++ -*-===//
//
// The compiler needs the number of anchors for shapes, the runtime the anchors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <vector>

namespace brew::caffe {

/// Returns the ratios of height to width of the anchors; 0.5, 1 and 2 by
/// default.
inline std::vector<float>
anchorRatios(const caffe::ProposalParameter &settings) {
  if (settings.ratio_size() == 0)
    return {0.5F, 1, 2};
  return {settings.ratio().begin(), settings.ratio().end()};
}

/// Returns the sides of the anchors in units of base_size; 8, 16 and 32 by
/// default.
inline std::vector<float>
anchorScales(const caffe::ProposalParameter &settings) {
  if (settings.scale_size() == 0)
    return {8, 16, 32};
  return {settings.scale().begin(), settings.scale().end()};
}

/// Returns the number of anchors at a position: one for each ratio and scale.
inline std::int64_t anchorCount(const caffe::ProposalParameter &settings) {
  return static_cast<std::int64_t>(anchorRatios(settings).size() *
                                   anchorScales(settings).size());
}

} // namespace brew::caffe
