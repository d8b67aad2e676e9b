//===- RegionProposals.h - Boxes of a region proposal network ---*- C++ -*-===//
//
// Of Ren et al., "Faster R-CNN: Towards real-time object detection with region
// proposal networks", NIPS 2015. Boxes are in pixels of the net's input; both
// edges belong to a box.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/detection/Boxes.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// The boxes around the first place of a map: of each ratio, all scales.
std::vector<Box<double>> makeAnchors(const caffe::ProposalParameter &settings);

template <typename Real> struct Proposal {
  Box<Real> box;
  Real score;
};

/// What a network says of one image; maps are dense.
template <typename Real> struct ProposalMaps {
  const Real *scores;  ///< that there is an object: anchors, height, width
  const Real *offsets; ///< of the boxes: anchors, 4, height, width
  std::int64_t height, width;
  Real imageHeight, imageWidth, imageScale;
};

/// The best boxes of one image, better ones first, equal ones in the order of
/// row, column and anchor: offset from their anchors, clipped to the image, and
/// not smaller than min_size times the image's scale on either side. Of the
/// pre_nms_topn best (below 1: of all), one stays unless its intersection with
/// a better one that stays, over their union, is above nms_thresh; at most
/// post_nms_topn stay. Boxes and scores that are NaN are passed over.
template <typename Real>
std::vector<Proposal<Real>> propose(const caffe::ProposalParameter &settings,
                                    const std::vector<Box<double>> &anchors,
                                    const ProposalMaps<Real> &maps);

} // namespace brew::runtime
