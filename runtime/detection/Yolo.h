//===- Yolo.h - Boxes of YOLO -----------------------------------*- C++ -*-===//
//
// The arithmetic of YOLO 2 and 3 (Redmon and Farhadi, "YOLO9000: Better,
// faster, stronger", CVPR 2017, and "YOLOv3: An incremental improvement",
// 2018) as Caffe's forks compute it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/detection/Boxes.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace brew::runtime {

/// A box in fractions of an image: its centre and its size.
template <typename Real> struct CenterBox {
  Real x = 0, y = 0, width = 0, height = 0;
};

/// Returns the intersection over the union of two boxes, NaN if both have no
/// area.
template <typename Real>
Real overlapOf(const CenterBox<Real> &a, const CenterBox<Real> &b);

template <typename Real> Box<Real> cornersOf(const CenterBox<Real> &box) {
  return {box.x - box.width / 2, box.y - box.height / 2, box.x + box.width / 2,
          box.y + box.height / 2};
}

template <typename Real> Real sigmoid(Real x) {
  return Real(1) / (Real(1) + std::exp(-x));
}

/// The fields of an anchor at a position; the classes follow.
enum YoloField { kCenterX, kCenterY, kWidth, kHeight, kObject, kYoloFields };

/// The network's outputs for one image: dense maps [anchors, kYoloFields +
/// classes, height, width].
struct YoloShape {
  std::int64_t anchors, classes, height, width;

  std::int64_t positions() const { return height * width; }
  std::int64_t boxes() const { return anchors * positions(); }
  std::int64_t count() const { return boxes() * (kYoloFields + classes); }
  /// Returns the index of a field of an anchor at a position.
  std::int64_t index(std::int64_t anchor, std::int64_t field,
                     std::int64_t position) const {
    return (anchor * (kYoloFields + classes) + field) * positions() + position;
  }
};

/// The size of an anchor in fractions of the image.
struct YoloAnchor {
  double width, height;
};

/// Returns the box of an anchor at a position.
template <typename Real>
CenterBox<Real> decodeBox(const YoloShape &shape, const Real *maps,
                          std::int64_t anchor, std::int64_t position,
                          const YoloAnchor &size);

/// Returns the probabilities of the classes of an anchor at a position, by
/// softmax.
template <typename Real>
std::vector<Real> classProbabilities(const YoloShape &shape, const Real *maps,
                                     std::int64_t anchor,
                                     std::int64_t position);

template <typename Real> struct YoloDetection {
  CenterBox<Real> box;
  Real score;
  int label;
  std::int64_t number; ///< of the box: its detections overlap completely
};

/// Sorts detections by score, in their order if scores are equal, and removes
/// each whose overlap with a better remaining one is at least `threshold`. No
/// score may be NaN.
template <typename Real>
void suppress(std::vector<YoloDetection<Real>> &detections, Real threshold,
              const std::function<Real(const CenterBox<Real> &,
                                       const CenterBox<Real> &)> &overlap);

/// A true box.
template <typename Real> struct YoloTruth {
  int label; ///< from 0
  CenterBox<Real> box;
};

/// Reads the true boxes of each image from rows of image, label (from 1),
/// instance, corners and a last field. Ignores rows of image -1. Throws Error
/// (1) for images and labels that do not exist.
template <typename Real>
std::vector<std::vector<YoloTruth<Real>>>
readTrueRows(const Real *rows, std::int64_t count, std::int64_t images,
             std::int64_t classes);

/// Reads the true boxes of one image from rows of label (from 0), centre and
/// size, up to the first without a width. Throws Error (1) for labels that do
/// not exist.
template <typename Real>
std::vector<YoloTruth<Real>> readTrueList(const Real *rows, std::int64_t count,
                                          std::int64_t classes);

} // namespace brew::runtime
