//===- RegionProposals.cpp - Region proposals of Faster R-CNN -------------===//

#include "runtime/detection/RegionProposals.h"

#include "caffe/ProposalAnchors.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {

std::vector<Box<double>> makeAnchors(const caffe::ProposalParameter &settings) {
  std::vector<Box<double>> anchors;
  const double base = settings.base_size(), centre = (base - 1) / 2;
  for (const float ratio : caffe::anchorRatios(settings)) {
    const double width = std::round(std::sqrt(base * base / ratio));
    const double height = std::round(width * ratio);
    for (const float scale : caffe::anchorScales(settings)) {
      const double halfWidth = (width * scale - 1) / 2;
      const double halfHeight = (height * scale - 1) / 2;
      anchors.push_back({centre - halfWidth, centre - halfHeight,
                         centre + halfWidth, centre + halfHeight});
    }
  }
  return anchors;
}

namespace {

/// Returns the extent of a box, which includes both edges.
template <typename Real> Real extentOf(Real low, Real high) {
  return high - low + 1;
}

template <typename Real> Real pixelAreaOf(const Box<Real> &box) {
  return extentOf(box.left, box.right) * extentOf(box.top, box.bottom);
}

template <typename Real>
Real pixelIntersectionOverUnion(const Box<Real> &a, const Box<Real> &b) {
  const Real width =
      extentOf(std::max(a.left, b.left), std::min(a.right, b.right));
  const Real height =
      extentOf(std::max(a.top, b.top), std::min(a.bottom, b.bottom));
  if (!(width > 0 && height > 0))
    return 0;
  const Real intersection = width * height;
  return intersection / (pixelAreaOf(a) + pixelAreaOf(b) - intersection);
}

/// Returns the box that four offsets describe relative to an anchor. The
/// offsets are `stride` elements apart.
template <typename Real>
Box<Real> decodeAnchor(const Box<Real> &anchor, const Real *offsets,
                       std::int64_t stride) {
  const Real width = extentOf(anchor.left, anchor.right);
  const Real height = extentOf(anchor.top, anchor.bottom);
  const Real x = offsets[0] * width + anchor.left + width / 2;
  const Real y = offsets[stride] * height + anchor.top + height / 2;
  const Real halfWidth = std::exp(offsets[2 * stride]) * width / 2;
  const Real halfHeight = std::exp(offsets[3 * stride]) * height / 2;
  return {x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight};
}

/// Returns all boxes without NaNs that are large enough, ordered by row, column
/// and anchor.
template <typename Real>
std::vector<Proposal<Real>>
decodeCandidates(const caffe::ProposalParameter &settings,
                 const std::vector<Box<double>> &anchors,
                 const ProposalMaps<Real> &maps) {
  const Real minSide = static_cast<Real>(settings.min_size()) * maps.imageScale;
  const std::int64_t plane = maps.height * maps.width;
  std::vector<Proposal<Real>> found;
  for (std::int64_t row = 0; row < maps.height; ++row)
    for (std::int64_t column = 0; column < maps.width; ++column)
      for (std::size_t k = 0; k < anchors.size(); ++k) {
        const std::int64_t position = row * maps.width + column;
        const auto scoreIndex = static_cast<std::int64_t>(k) * plane + position;
        const Real score = maps.scores[scoreIndex];
        const double shiftX = static_cast<double>(column) *
                              static_cast<double>(settings.feat_stride());
        const double shiftY = static_cast<double>(row) *
                              static_cast<double>(settings.feat_stride());
        const Box<Real> anchor = {
            static_cast<Real>(anchors[k].left + shiftX),
            static_cast<Real>(anchors[k].top + shiftY),
            static_cast<Real>(anchors[k].right + shiftX),
            static_cast<Real>(anchors[k].bottom + shiftY)};
        const std::int64_t offsetsIndex =
            static_cast<std::int64_t>(k) * 4 * plane + position;
        const Box<Real> unclipped =
            decodeAnchor(anchor, maps.offsets + offsetsIndex, plane);
        if (std::isnan(score) || std::isnan(unclipped.left) ||
            std::isnan(unclipped.right) || std::isnan(unclipped.top) ||
            std::isnan(unclipped.bottom))
          continue;
        const Box<Real> box =
            clipped(unclipped, maps.imageWidth - 1, maps.imageHeight - 1);
        if (extentOf(box.left, box.right) >= minSide &&
            extentOf(box.top, box.bottom) >= minSide)
          found.push_back({box, score});
      }
  return found;
}

} // namespace

template <typename Real>
std::vector<Proposal<Real>> propose(const caffe::ProposalParameter &settings,
                                    const std::vector<Box<double>> &anchors,
                                    const ProposalMaps<Real> &maps) {
  std::vector<Proposal<Real>> found = decodeCandidates(settings, anchors, maps);
  std::stable_sort(found.begin(), found.end(),
                   [](const Proposal<Real> &a, const Proposal<Real> &b) {
                     return a.score > b.score;
                   });
  if (settings.pre_nms_topn() > 0)
    found.resize(std::min<std::size_t>(
        found.size(), static_cast<std::size_t>(settings.pre_nms_topn())));
  const auto maxOverlap = static_cast<Real>(settings.nms_thresh());
  std::vector<Proposal<Real>> kept;
  for (const Proposal<Real> &candidate : found) {
    if (kept.size() == settings.post_nms_topn())
      break;
    const bool overlaps =
        std::any_of(kept.begin(), kept.end(), [&](const Proposal<Real> &other) {
          return pixelIntersectionOverUnion(other.box, candidate.box) >
                 maxOverlap;
        });
    if (!overlaps)
      kept.push_back(candidate);
  }
  return kept;
}

template std::vector<Proposal<float>> propose(const caffe::ProposalParameter &,
                                              const std::vector<Box<double>> &,
                                              const ProposalMaps<float> &);
template std::vector<Proposal<double>> propose(const caffe::ProposalParameter &,
                                               const std::vector<Box<double>> &,
                                               const ProposalMaps<double> &);

} // namespace brew::runtime
