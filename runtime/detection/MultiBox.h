//===- MultiBox.h - Which boxes a MultiBoxLoss learns from ------*- C++ -*-===//
//
// Matching of priors with true boxes, and the choice of negatives, by the
// formulas of SSD's Caffe fork. Equal losses are taken in the order of priors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/detection/Boxes.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

template <typename Real> struct GroundTruthBox {
  Box<Real> box;
  int label = 0;
};

/// Rows of eight: image, label, instance, corners, whether it is difficult; an
/// image of -1 is a row without a box. Returns the boxes by image. Throws Error
/// (1) for an image that is not one of `images` and a label that is the
/// background's or no class.
template <typename Real>
std::vector<std::vector<GroundTruthBox<Real>>>
readGroundTruth(const Real *rows, std::int64_t count, std::int64_t images,
              const caffe::MultiBoxLossParameter &settings);

/// The priors, from 4 * `count` corners and as many variances. Throws Error (1)
/// for a variance that is not positive.
template <typename Real>
std::vector<Prior<Real>> readPriors(const Real *values, std::int64_t count);

/// Throws Error (1) for a prior without width or height, of which nothing can
/// be told relative to its size.
template <typename Real> void requirePositiveSize(const Prior<Real> &prior);

/// What the predictions of one label were matched with.
template <typename Real> struct Matches {
  static constexpr int kNone = -1, kIgnored = -2;
  static constexpr int kAnyLabel = -1;
  int label = kAnyLabel;
  std::vector<int> truth; ///< by prior: number of a true box, or one of those
  std::vector<Real> overlap; ///< by prior: the largest with any true box

  bool isMatched(std::size_t prior) const { return truth[prior] >= 0; }
};

/// What a loss of one image is made of.
template <typename Real> struct ImageMatches {
  /// By label, in their order: one for all classes if they share locations.
  /// Empty for an image without true boxes.
  std::vector<Matches<Real>> byLabel;
  std::vector<int> negatives; ///< priors, ascending; of mining
};

/// One image's predictions: four for each prior (and class, if these do not
/// share them), and as many confidences as there are classes.
template <typename Real> struct Predictions {
  const Real *locations, *confidences;
};

/// Location of a prior's prediction for a label (of Matches) in an image.
inline std::int64_t locationOf(const caffe::MultiBoxLossParameter &settings,
                               std::int64_t prior, int label) {
  return settings.share_location()
             ? prior * 4
             : (prior * settings.num_classes() + label) * 4;
}

/// The target of a matched prior's confidences.
template <typename Real>
int classOf(const caffe::MultiBoxLossParameter &settings,
            const GroundTruthBox<Real> &box) {
  return settings.map_object_to_agnostic()
             ? static_cast<int>(settings.background_label_id()) + 1
             : box.label;
}

/// Four offsets of a prediction and those that it should have had, both divided
/// by the variances.
template <typename Real> struct LocationPair {
  Real predicted[4], target[4];
  /// What the offsets that learn (else 0) were divided by.
  Real divisor[4];
};
/// Throws Error (1) for a prior without extent.
template <typename Real>
LocationPair<Real> locationPair(const caffe::MultiBoxLossParameter &settings,
                                const Prior<Real> &prior,
                                const Box<Real> &truth, const Real *prediction);
/// The loss of a difference, and its derivative.
template <typename Real>
Real locationLoss(caffe::MultiBoxLossParameter::LocLossType type,
                  Real difference);
template <typename Real>
Real locationLossDerivative(caffe::MultiBoxLossParameter::LocLossType type,
                   Real difference);

/// The loss of one prior's confidences where `target` is its class; -1: none
/// (with LOGISTIC only).
template <typename Real>
Real confidenceLoss(const caffe::MultiBoxLossParameter &settings,
                    const Real *confidences, int target);

/// The matches of an image, after mining if the settings ask for it. Throws
/// Error (1) for a prior without extent that has to be decoded.
template <typename Real>
ImageMatches<Real> matchImage(const caffe::MultiBoxLossParameter &settings,
                              const std::vector<Prior<Real>> &priors,
                              const std::vector<GroundTruthBox<Real>> &truths,
                              const Predictions<Real> &predictions);

} // namespace brew::runtime
