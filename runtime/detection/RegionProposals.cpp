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
      const double right = (width * scale - 1) / 2;
      const double below = (height * scale - 1) / 2;
      anchors.push_back(
          {centre - right, centre - below, centre + right, centre + below});
    }
  }
  return anchors;
}

namespace {

/// Returns the extent of a box, which includes both edges.
template <typename Real> Real extentOf(Real low, Real high) {
  return high - low + 1;
}

template <typename Real> Real pixelsOf(const Box<Real> &box) {
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
  const Real both = width * height;
  return both / (pixelsOf(a) + pixelsOf(b) - both);
}

/// Returns the box with four offsets, `stride` apart, from an anchor.
template <typename Real>
Box<Real> decodeAnchor(const Box<Real> &anchor, const Real *offsets,
                       std::int64_t stride) {
  const Real width = extentOf(anchor.left, anchor.right);
  const Real height = extentOf(anchor.top, anchor.bottom);
  const Real x = offsets[0] * width + anchor.left + width / 2;
  const Real y = offsets[stride] * height + anchor.top + height / 2;
  const Real right = std::exp(offsets[2 * stride]) * width / 2;
  const Real below = std::exp(offsets[3 * stride]) * height / 2;
  return {x - right, y - below, x + right, y + below};
}

/// Returns all boxes that are large enough, in the order of row, column and
/// anchor.
template <typename Real>
std::vector<Proposal<Real>> candidates(const caffe::ProposalParameter &settings,
                                       const std::vector<Box<double>> &anchors,
                                       const ProposalMaps<Real> &maps) {
  const Real least = static_cast<Real>(settings.min_size()) * maps.imageScale;
  const std::int64_t plane = maps.height * maps.width;
  std::vector<Proposal<Real>> found;
  for (std::int64_t row = 0; row < maps.height; ++row)
    for (std::int64_t column = 0; column < maps.width; ++column)
      for (std::size_t k = 0; k < anchors.size(); ++k) {
        const std::int64_t place = row * maps.width + column;
        const auto first = static_cast<std::int64_t>(k) * plane + place;
        const Real score = maps.scores[first];
        const double right = static_cast<double>(column) *
                             static_cast<double>(settings.feat_stride());
        const double down = static_cast<double>(row) *
                            static_cast<double>(settings.feat_stride());
        const Box<Real> anchor = {static_cast<Real>(anchors[k].left + right),
                                  static_cast<Real>(anchors[k].top + down),
                                  static_cast<Real>(anchors[k].right + right),
                                  static_cast<Real>(anchors[k].bottom + down)};
        const std::int64_t offsets =
            static_cast<std::int64_t>(k) * 4 * plane + place;
        const Box<Real> whole =
            decodeAnchor(anchor, maps.offsets + offsets, plane);
        if (std::isnan(score) || std::isnan(whole.left) ||
            std::isnan(whole.right) || std::isnan(whole.top) ||
            std::isnan(whole.bottom))
          continue;
        const Box<Real> box =
            clipped(whole, maps.imageWidth - 1, maps.imageHeight - 1);
        if (extentOf(box.left, box.right) >= least &&
            extentOf(box.top, box.bottom) >= least)
          found.push_back({box, score});
      }
  return found;
}

} // namespace

template <typename Real>
std::vector<Proposal<Real>> propose(const caffe::ProposalParameter &settings,
                                    const std::vector<Box<double>> &anchors,
                                    const ProposalMaps<Real> &maps) {
  std::vector<Proposal<Real>> found = candidates(settings, anchors, maps);
  std::stable_sort(found.begin(), found.end(),
                   [](const Proposal<Real> &a, const Proposal<Real> &b) {
                     return a.score > b.score;
                   });
  if (settings.pre_nms_topn() > 0)
    found.resize(std::min<std::size_t>(
        found.size(), static_cast<std::size_t>(settings.pre_nms_topn())));
  const auto most = static_cast<Real>(settings.nms_thresh());
  std::vector<Proposal<Real>> kept;
  for (const Proposal<Real> &next : found) {
    if (kept.size() == settings.post_nms_topn())
      break;
    const bool overlaps =
        std::any_of(kept.begin(), kept.end(), [&](const Proposal<Real> &other) {
          return pixelIntersectionOverUnion(other.box, next.box) > most;
        });
    if (!overlaps)
      kept.push_back(next);
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
