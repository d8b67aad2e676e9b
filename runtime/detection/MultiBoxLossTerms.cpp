//===- MultiBoxLossTerms.cpp - Terms of MultiBoxLoss ----------------------===//

#include "runtime/detection/MultiBox.h"

#include "support/Error.h"

#include <cfloat>
#include <cmath>

namespace brew::runtime {

using Settings = caffe::MultiBoxLossParameter;

template <typename Real>
std::vector<std::vector<GroundTruthBox<Real>>>
readGroundTruth(const Real *rows, std::int64_t count, std::int64_t images,
                const Settings &settings) {
  std::vector<std::vector<GroundTruthBox<Real>>> result(
      static_cast<std::size_t>(images));
  for (std::int64_t i = 0; i < count; ++i) {
    const Real *row = rows + i * 8;
    const auto image = static_cast<std::int64_t>(row[0]);
    if (image == -1 || (row[7] != 0 && !settings.use_difficult_gt()))
      continue;
    const auto label = static_cast<int>(row[1]);
    auto invalidBox = [&](const std::string &text) {
      return badInput("ground-truth box " + std::to_string(i) + " " + text);
    };
    if (!(image >= 0 && image < images))
      throw invalidBox("is of image " + std::to_string(image) +
                       " of a batch of " + std::to_string(images));
    if (label == static_cast<int>(settings.background_label_id()))
      throw invalidBox("has the background's label " + std::to_string(label));
    // With map_object_to_agnostic all labels are one class.
    if (label < 0 || (!settings.map_object_to_agnostic() &&
                      label >= static_cast<int>(settings.num_classes())))
      throw invalidBox("has label " + std::to_string(label) +
                       ", but there are " +
                       std::to_string(settings.num_classes()) + " classes");
    result[static_cast<std::size_t>(image)].push_back(
        {{row[3], row[4], row[5], row[6]}, label});
  }
  return result;
}

template <typename Real>
std::vector<Prior<Real>> readPriors(const Real *values, std::int64_t count) {
  std::vector<Prior<Real>> priors;
  for (std::int64_t i = 0; i < count; ++i) {
    const Real *corners = values + i * 4, *variances = corners + count * 4;
    priors.push_back(
        {{corners[0], corners[1], corners[2], corners[3]},
         {variances[0], variances[1], variances[2], variances[3]}});
    for (Real variance : priors.back().variance)
      if (!(variance > 0))
        throw badInput("prior " + std::to_string(i) +
                       " has a variance that is not positive");
  }
  return priors;
}

template <typename Real> void requirePositiveSize(const Prior<Real> &prior) {
  if (!(prior.box.right > prior.box.left && prior.box.bottom > prior.box.top))
    throw badInput("a prior has no width or height, so offsets relative to its "
                   "size are undefined");
}

template <typename Real>
LocationPair<Real>
locationPair(const Settings &settings, const Prior<Real> &prior,
             const Box<Real> &truth, const Real *prediction) {
  const CodeType code = settings.code_type();
  const bool varianceInTarget = settings.encode_variance_in_target();
  if (code != caffe::PriorBoxParameter::CORNER)
    requirePositiveSize(prior);
  const std::array<Real, 4> targets =
      encodeBox(prior, code, varianceInTarget, truth);
  std::array<Real, 4> corners = {0, 0, 0, 0};
  if (settings.bp_inside()) {
    const Box<Real> box =
        settings.use_prior_for_matching()
            ? prior.box
            : decodeBox(prior, code, varianceInTarget, prediction);
    corners = {box.left, box.top, box.right, box.bottom};
  }
  LocationPair<Real> pair;
  for (std::size_t k = 0; k < 4; ++k) {
    const bool isTrained = corners[k] >= 0 && corners[k] <= 1;
    const Real divisor = varianceInTarget ? prior.variance[k] : 1;
    pair.target[k] = targets[k] / divisor;
    pair.predicted[k] = isTrained ? prediction[k] / divisor : pair.target[k];
    pair.divisor[k] = isTrained ? divisor : 0;
  }
  return pair;
}

template <typename Real>
Real locationLoss(Settings::LocLossType type, Real difference) {
  const Real size = std::fabs(difference);
  if (type == Settings::L2 || size < 1)
    return difference * difference / 2;
  return size - static_cast<Real>(0.5);
}

template <typename Real>
Real locationLossDerivative(Settings::LocLossType type, Real difference) {
  if (type == Settings::L2 || std::fabs(difference) < 1)
    return difference;
  return difference > 0 ? 1 : -1;
}

template <typename Real>
Real confidenceLoss(const Settings &settings, const Real *confidences,
                    int target) {
  const int classes = static_cast<int>(settings.num_classes());
  if (settings.conf_loss_type() == Settings::SOFTMAX) {
    const Real maxConfidence =
        *std::max_element(confidences, confidences + classes);
    Real sum = 0;
    for (int c = 0; c < classes; ++c)
      sum += std::exp(confidences[c] - maxConfidence);
    const Real probability =
        std::exp(confidences[target] - maxConfidence) / sum;
    return -std::log(std::max(probability, static_cast<Real>(FLT_MIN)));
  }
  Real loss = 0;
  for (int c = 0; c < classes; ++c) {
    const Real x = confidences[c];
    loss += std::max(x, Real(0)) - (c == target ? x : 0) +
            std::log(1 + std::exp(-std::fabs(x)));
  }
  return loss;
}

#define INSTANTIATE(Real)                                                      \
  template std::vector<std::vector<GroundTruthBox<Real>>> readGroundTruth(     \
      const Real *, std::int64_t, std::int64_t, const Settings &);             \
  template std::vector<Prior<Real>> readPriors(const Real *, std::int64_t);    \
  template void requirePositiveSize(const Prior<Real> &);                      \
  template LocationPair<Real> locationPair(                                    \
      const Settings &, const Prior<Real> &, const Box<Real> &, const Real *); \
  template Real locationLoss(Settings::LocLossType, Real);                     \
  template Real locationLossDerivative(Settings::LocLossType, Real);           \
  template Real confidenceLoss(const Settings &, const Real *, int);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace brew::runtime
