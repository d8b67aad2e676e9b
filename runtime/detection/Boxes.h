//===- Boxes.h - Box arithmetic of detection nets ---------------*- C++ -*-===//
//
// The arithmetic of SSD (Liu et al., "SSD: Single shot multibox detector", ECCV
// 2016, and its Caffe fork): corners are fractions of an image's width and
// height unless said otherwise.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <algorithm>
#include <array>

namespace brew::runtime {

template <typename Real> struct Box {
  Real left = 0, top = 0, right = 0, bottom = 0;
};

/// Returns the area, or 0 for a box with swapped corners. Boxes in pixels (not
/// `normalized`) include both edges.
template <typename Real>
Real areaOf(const Box<Real> &box, bool normalized = true) {
  if (box.right < box.left || box.bottom < box.top)
    return 0;
  const Real width = box.right - box.left, height = box.bottom - box.top;
  return normalized ? width * height : (width + 1) * (height + 1);
}

/// Returns the intersection of two boxes, or zeros if they are disjoint.
template <typename Real>
Box<Real> intersectionOf(const Box<Real> &a, const Box<Real> &b) {
  if (b.left > a.right || b.right < a.left || b.top > a.bottom ||
      b.bottom < a.top)
    return {};
  return {std::max(a.left, b.left), std::max(a.top, b.top),
          std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
}

/// Returns the intersection over the union of two boxes with these areas.
template <typename Real>
Real intersectionOverUnion(const Box<Real> &a, Real areaA, const Box<Real> &b,
                           Real areaB, bool normalized = true) {
  const Box<Real> shared = intersectionOf(a, b);
  const Real edge = normalized ? 0 : 1;
  const Real width = shared.right - shared.left + edge;
  const Real height = shared.bottom - shared.top + edge;
  if (!(width > 0 && height > 0))
    return 0;
  const Real sharedArea = width * height;
  return sharedArea / (areaA + areaB - sharedArea);
}
template <typename Real>
Real intersectionOverUnion(const Box<Real> &a, const Box<Real> &b) {
  return intersectionOverUnion(a, areaOf(a), b, areaOf(b));
}

/// Returns the fraction of `box` within `other`, from 0 to 1.
template <typename Real>
Real coverageOf(const Box<Real> &box, const Box<Real> &other) {
  const Real shared = areaOf(intersectionOf(box, other));
  return shared > 0 ? shared / areaOf(box) : 0;
}

/// Clips a box to the image.
template <typename Real>
Box<Real> clipped(const Box<Real> &box, Real width = 1, Real height = 1) {
  auto clip = [](Real x, Real limit) {
    return std::max(std::min(x, limit), Real(0));
  };
  return {clip(box.left, width), clip(box.top, height), clip(box.right, width),
          clip(box.bottom, height)};
}

/// Converts `box`, in the units of `frame`, to fractions of `frame`, clipped to
/// it. Returns false if the two do not overlap.
template <typename Real>
bool projectInto(const Box<Real> &frame, const Box<Real> &box,
                 Box<Real> &result) {
  if (box.left >= frame.right || box.right <= frame.left ||
      box.top >= frame.bottom || box.bottom <= frame.top)
    return false;
  const Real width = frame.right - frame.left;
  const Real height = frame.bottom - frame.top;
  result = clipped(Box<Real>{
      (box.left - frame.left) / width, (box.top - frame.top) / height,
      (box.right - frame.left) / width, (box.bottom - frame.top) / height});
  return areaOf(result) > 0;
}

using CodeType = caffe::PriorBoxParameter::CodeType;

/// A prior box and the variances by which offsets from it are divided.
template <typename Real> struct Prior {
  Box<Real> box;
  std::array<Real, 4> variance;
};

/// Returns the offsets of `box` from a prior, divided by its variances unless
/// `varianceInTarget`. The sides of the prior and, with CENTER_SIZE, of the box
/// must be positive.
template <typename Real>
std::array<Real, 4> encodeBox(const Prior<Real> &prior, CodeType code,
                              bool varianceInTarget, const Box<Real> &box);
/// Returns the box with these offsets from a prior.
template <typename Real>
Box<Real> decodeBox(const Prior<Real> &prior, CodeType code,
                    bool varianceInTarget, const Real *offsets);

/// A box in pixels of an image.
struct PixelBox {
  Box<float> box;
  float area; ///< by SSD's definition, which depends on the resize mode
};
/// Converts a box from fractions of a net's input to pixels of an image of
/// `height` x `width` that was resized to the input by `resize` (null: WARP).
PixelBox toPixels(const Box<float> &box, int height, int width,
                  const caffe::ResizeParameter *resize);

} // namespace brew::runtime
