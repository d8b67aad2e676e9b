//===- MultiBox.h - Matching of MultiBoxLoss --------------------*- C++ -*-===//
//
// Matching of priors with ground-truth boxes, and the choice of negatives, by
// the formulas of SSD's Caffe fork. Ties are resolved in the order of priors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/detection/Boxes.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// A ground-truth box and its class.
template <typename Real> struct GroundTruthBox {
  Box<Real> box;
  int label = 0;
};

/// Reads ground-truth boxes from rows of eight: image, label, instance,
/// corners, difficult; an image of -1 is an empty row. Returns the boxes by
/// image. Throws Error (1) for an image outside [0, images), and for a label
/// that is the background's or not a class.
template <typename Real>
std::vector<std::vector<GroundTruthBox<Real>>>
readGroundTruth(const Real *rows, std::int64_t count, std::int64_t images,
                const caffe::MultiBoxLossParameter &settings);

/// Reads priors from 4 * `count` corners and as many variances. Throws Error
/// (1) for a variance that is not positive.
template <typename Real>
std::vector<Prior<Real>> readPriors(const Real *values, std::int64_t count);

/// Throws Error (1) for a prior without width or height, since offsets are
/// relative to its size.
template <typename Real> void requirePositiveSize(const Prior<Real> &prior);

/// The matches of the predictions for one label.
template <typename Real> struct Matches {
  static constexpr int kNone = -1, kIgnored = -2;
  static constexpr int kAnyLabel = -1;
  int label = kAnyLabel;
  std::vector<int> truth; ///< by prior: index of a ground-truth box, or kNone
                          ///< or kIgnored
  std::vector<Real> overlap; ///< by prior: with the matched box, or else the
                             ///< largest with any box

  bool isMatched(std::size_t prior) const { return truth[prior] >= 0; }
};

/// The matches of one image.
template <typename Real> struct ImageMatches {
  /// Matches in the order of labels; a single entry if classes share locations.
  /// Empty for an image without ground-truth boxes.
  std::vector<Matches<Real>> byLabel;
  std::vector<int> negatives; ///< priors chosen by mining, ascending
};

/// The predictions of one image: four locations for each prior (and class, if
/// classes do not share them), and a confidence for each prior and class.
template <typename Real> struct Predictions {
  const Real *locations, *confidences;
};

/// Returns the index of a prior's location for a label (Matches::label) in the
/// locations of an image.
inline std::int64_t locationOf(const caffe::MultiBoxLossParameter &settings,
                               std::int64_t prior, int label) {
  return settings.share_location()
             ? prior * 4
             : (prior * settings.num_classes() + label) * 4;
}

/// Returns the target class of a matched prior's confidences.
template <typename Real>
int classOf(const caffe::MultiBoxLossParameter &settings,
            const GroundTruthBox<Real> &box) {
  return settings.map_object_to_agnostic()
             ? static_cast<int>(settings.background_label_id()) + 1
             : box.label;
}

/// The four predicted offsets and their targets, both divided by the variances.
template <typename Real> struct LocationPair {
  Real predicted[4], target[4];
  /// The divisors of the offsets that are trained; 0 for others.
  Real divisor[4];
};
/// Returns predicted and target offsets. Throws Error (1) for a prior without
/// extent.
template <typename Real>
LocationPair<Real> locationPair(const caffe::MultiBoxLossParameter &settings,
                                const Prior<Real> &prior,
                                const Box<Real> &truth, const Real *prediction);
/// Returns the loss of a difference of offsets.
template <typename Real>
Real locationLoss(caffe::MultiBoxLossParameter::LocLossType type,
                  Real difference);
template <typename Real>
Real locationLossDerivative(caffe::MultiBoxLossParameter::LocLossType type,
                            Real difference);

/// Returns the loss of one prior's confidences with class `target`; -1: no
/// class (only with LOGISTIC).
template <typename Real>
Real confidenceLoss(const caffe::MultiBoxLossParameter &settings,
                    const Real *confidences, int target);

/// Returns the matches of an image, after mining if the settings require it.
/// Throws Error (1) if a prior without extent must be decoded.
template <typename Real>
ImageMatches<Real> matchImage(const caffe::MultiBoxLossParameter &settings,
                              const std::vector<Prior<Real>> &priors,
                              const std::vector<GroundTruthBox<Real>> &truths,
                              const Predictions<Real> &predictions);

} // namespace brew::runtime
