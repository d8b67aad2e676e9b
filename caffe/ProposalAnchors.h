//===- ProposalAnchors.h - What a Proposal layer's settings mean -*- C++ -*-===//
//
// The compiler needs the number of anchors for shapes, the runtime the anchors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <vector>

namespace brew::caffe {

/// Heights over widths of the anchors: those given, else 0.5, 1 and 2.
inline std::vector<float>
anchorRatios(const caffe::ProposalParameter &settings) {
  if (settings.ratio_size() == 0)
    return {0.5F, 1, 2};
  return {settings.ratio().begin(), settings.ratio().end()};
}

/// Sides of the anchors in units of base_size: those given, else 8, 16 and 32.
inline std::vector<float>
anchorScales(const caffe::ProposalParameter &settings) {
  if (settings.scale_size() == 0)
    return {8, 16, 32};
  return {settings.scale().begin(), settings.scale().end()};
}

/// Anchors of a place: one for each ratio and scale.
inline std::int64_t anchorCount(const caffe::ProposalParameter &settings) {
  return static_cast<std::int64_t>(anchorRatios(settings).size() *
                                   anchorScales(settings).size());
}

} // namespace brew::caffe
