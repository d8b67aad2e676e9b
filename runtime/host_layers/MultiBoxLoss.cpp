//===- MultiBoxLoss.cpp - MultiBoxLoss, the loss of SSD -------------------===//

#include "runtime/host_layers/MultiBoxLoss.h"

#include "runtime/detection/MultiBox.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

using Settings = caffe::MultiBoxLossParameter;

/// Returns the divisor of the loss.
double normalizerOf(const caffe::LossParameter &loss, std::int64_t images,
                    std::int64_t priors, std::int64_t matches) {
  auto mode = loss.normalization();
  if (!loss.has_normalization() && loss.has_normalize())
    mode = loss.normalize() ? caffe::LossParameter::VALID
                            : caffe::LossParameter::BATCH_SIZE;
  auto atLeastOne = [](std::int64_t count) {
    return static_cast<double>(std::max<std::int64_t>(count, 1));
  };
  switch (mode) {
  case caffe::LossParameter::FULL:
    return atLeastOne(images * priors);
  case caffe::LossParameter::BATCH_SIZE:
    return atLeastOne(images);
  case caffe::LossParameter::NONE:
    return 1;
  case caffe::LossParameter::PRE_FIXED:
    return loss.pre_fixed_normalizer();
  case caffe::LossParameter::VALID:
    break;
  }
  return atLeastOne(matches);
}

/// The terms of the loss, saved for the backward pass.
struct Terms {
  /// The derivative of the location loss with respect to the location at
  /// `index`.
  struct Location {
    std::int64_t index;
    double derivative;
  };
  /// The target class of the confidences from index `index`; -1: no class.
  struct Confidence {
    std::int64_t index;
    int target;
  };
  std::vector<Location> locations;
  std::vector<Confidence> confidences;
  double normalizer = 1;
};

class MultiBoxLoss : public HostLayer {
public:
  explicit MultiBoxLoss(const HostLayerSetup &setup) {
    if (!google::protobuf::TextFormat::ParseFromString(setup.settings,
                                                       &layer) ||
        setup.bottoms.size() != 4 || setup.bottoms[2].size() < 3)
      throw badInput("damaged plan: not the settings and bottoms of a "
                     "MultiBoxLoss");
    images = setup.bottoms[0][0];
    priorCount = setup.bottoms[2][2] / 4;
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      computeLoss<double>(arguments);
    else
      computeLoss<float>(arguments);
  }
  void backward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      computeGradients<double>(arguments);
    else
      computeGradients<float>(arguments);
  }

private:
  /// Returns whether the loss of bottom 0 or 1 is added.
  bool isLossAdded(int bottom) const {
    return layer.propagate_down_size() <= bottom ||
           layer.propagate_down(bottom);
  }

  template <typename Real> void computeLoss(HostLayerArguments &arguments) {
    const Settings &settings = layer.multibox_loss_param();
    auto valuesOf = [&](std::size_t i) {
      return static_cast<const Real *>(arguments.bottoms[i].values);
    };
    const auto truths = readGroundTruth(
        valuesOf(3), arguments.bottoms[3].count / 8, images, settings);
    const auto priors = readPriors(valuesOf(2), priorCount);
    const std::int64_t perImage = arguments.bottoms[0].count / images;
    const std::int64_t classes = settings.num_classes();
    terms = {};
    double locationSum = 0, confidenceSum = 0;
    std::int64_t matched = 0;
    for (std::int64_t n = 0; n < images; ++n) {
      const Predictions<Real> predictions = {
          valuesOf(0) + n * perImage, valuesOf(1) + n * priorCount * classes};
      const auto &imageTruths = truths[static_cast<std::size_t>(n)];
      const ImageMatches<Real> imageMatches =
          matchImage(settings, priors, imageTruths, predictions);
      std::vector<int> targets(priors.size(), kUnmatched);
      auto addConfidence = [&](std::size_t prior, int target) {
        const std::int64_t index = static_cast<std::int64_t>(prior) * classes;
        confidenceSum +=
            confidenceLoss(settings, predictions.confidences + index, target);
        terms.confidences.push_back({n * priorCount * classes + index, target});
      };
      const bool isMining = settings.mining_type() != Settings::NONE;
      for (const Matches<Real> &matches : imageMatches.byLabel)
        for (std::size_t i = 0; i < priors.size(); ++i) {
          if (!matches.isMatched(i))
            continue;
          ++matched;
          const auto &truth =
              imageTruths[static_cast<std::size_t>(matches.truth[i])];
          targets[i] = classOf(settings, truth);
          if (isMining)
            addConfidence(i, targets[i]);
          const std::int64_t index =
              locationOf(settings, static_cast<std::int64_t>(i), matches.label);
          locationSum +=
              addLocation(settings, priors[i], truth.box,
                          predictions.locations + index, n * perImage + index);
        }
      const auto background = static_cast<int>(settings.background_label_id());
      for (int prior : imageMatches.negatives)
        addConfidence(static_cast<std::size_t>(prior), background);
      // Without mining, all priors contribute. With LOGISTIC, unmatched priors
      // have no target class.
      const int unmatchedTarget =
          settings.conf_loss_type() == Settings::SOFTMAX ? background : -1;
      for (std::size_t i = 0; !isMining && i < priors.size(); ++i)
        addConfidence(i,
                      targets[i] == kUnmatched ? unmatchedTarget : targets[i]);
    }
    terms.normalizer =
        normalizerOf(layer.loss_param(), images, priorCount, matched);
    double loss = 0;
    if (isLossAdded(0))
      loss += settings.loc_weight() * locationSum / terms.normalizer;
    if (isLossAdded(1))
      loss += confidenceSum / terms.normalizer;
    *static_cast<Real *>(arguments.tops[0].values) = static_cast<Real>(loss);
  }

  /// Adds the terms of a match's offsets. Returns their loss.
  template <typename Real>
  double addLocation(const Settings &settings, const Prior<Real> &prior,
                     const Box<Real> &truth, const Real *prediction,
                     std::int64_t index) {
    const LocationPair<Real> pair =
        locationPair(settings, prior, truth, prediction);
    double loss = 0;
    for (int k = 0; k < 4; ++k) {
      const Real difference = pair.predicted[k] - pair.target[k];
      loss += locationLoss(settings.loc_loss_type(), difference);
      if (pair.divisor[k] != 0)
        terms.locations.push_back(
            {index + k,
             locationLossDerivative(settings.loc_loss_type(), difference) /
                 pair.divisor[k]});
    }
    return loss;
  }

  template <typename Real>
  void computeGradients(HostLayerArguments &arguments) {
    const Settings &settings = layer.multibox_loss_param();
    const double scale =
        *static_cast<const Real *>(arguments.tops[0].gradient) /
        terms.normalizer;
    for (HostLayerBlob &bottom : arguments.bottoms)
      if (bottom.gradient)
        std::fill_n(static_cast<Real *>(bottom.gradient), bottom.count,
                    Real(0));
    if (void *memory = isLossAdded(0) ? arguments.bottoms[0].gradient : nullptr)
      for (const Terms::Location &term : terms.locations)
        static_cast<Real *>(memory)[term.index] =
            static_cast<Real>(term.derivative * settings.loc_weight() * scale);
    if (void *memory = isLossAdded(1) ? arguments.bottoms[1].gradient : nullptr)
      for (const Terms::Confidence &term : terms.confidences)
        addConfidenceGradient(
            settings,
            static_cast<const Real *>(arguments.bottoms[1].values) + term.index,
            term.target, scale, static_cast<Real *>(memory) + term.index);
  }

  /// Adds to the gradient, since a prior may be matched for several labels.
  template <typename Real>
  static void addConfidenceGradient(const Settings &settings,
                                    const Real *confidences, int target,
                                    double scale, Real *gradient) {
    const int classes = static_cast<int>(settings.num_classes());
    const bool softmax = settings.conf_loss_type() == Settings::SOFTMAX;
    const Real maxConfidence =
        *std::max_element(confidences, confidences + classes);
    double sum = 0;
    for (int c = 0; softmax && c < classes; ++c)
      sum += std::exp(confidences[c] - maxConfidence);
    for (int c = 0; c < classes; ++c) {
      const double probability =
          softmax ? std::exp(confidences[c] - maxConfidence) / sum
                  : 1 / (1 + std::exp(-double(confidences[c])));
      gradient[c] += static_cast<Real>((probability - (c == target)) * scale);
    }
  }

  static constexpr int kUnmatched = -2;

  caffe::LayerParameter layer;
  std::int64_t images = 0, priorCount = 0;
  Terms terms;
};

class MultiBoxLossType : public HostLayerType {
public:
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<MultiBoxLoss>(setup);
  }
};

} // namespace

const HostLayerType &multiBoxLossType() {
  static const MultiBoxLossType type;
  return type;
}

} // namespace brew::runtime
