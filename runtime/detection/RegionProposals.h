//===- RegionProposals.h - Region proposals of Faster R-CNN -----*- C++ -*-===//
//
// See Ren et al., "Faster R-CNN: Towards real-time object detection with region
// proposal networks", NIPS 2015. Boxes are in pixels of the net's input and
// include both edges.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/detection/Boxes.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// Returns the anchors around the first position of a map: for each ratio, all
/// scales.
std::vector<Box<double>> makeAnchors(const caffe::ProposalParameter &settings);

/// A proposed region.
template <typename Real> struct Proposal {
  Box<Real> box;
  Real score;
};

/// The network's outputs for one image; maps are dense.
template <typename Real> struct ProposalMaps {
  const Real *scores;  ///< of objects: [anchors, height, width]
  const Real *offsets; ///< of boxes: [anchors, 4, height, width]
  std::int64_t height, width;
  Real imageHeight, imageWidth, imageScale;
};

/// Returns the best boxes of one image, ordered by score, then by row, column
/// and anchor. Boxes are decoded from their anchors and clipped to the image.
/// Drops boxes with NaNs, or with a side smaller than min_size times the
/// image's scale. Non-maximum suppression of the pre_nms_topn best boxes (all
/// boxes if it is below 1) then keeps at most post_nms_topn of them: those
/// whose intersection over union with every better kept box is at most
/// nms_thresh.
template <typename Real>
std::vector<Proposal<Real>> propose(const caffe::ProposalParameter &settings,
                                    const std::vector<Box<double>> &anchors,
                                    const ProposalMaps<Real> &maps);

} // namespace brew::runtime
