//===- Loss.cpp - Losses and accuracy -------------------------------------===//

#include "frontends/prototxt/layers/LossChecks.h"

#include <cmath>

namespace brew::prototxt {

namespace {

void checkNormalizer(LayerChecker &c) {
  const caffe::LossParameter &settings = c.layer.loss_param();
  if (!(settings.pre_fixed_normalizer() > 0))
    c.error(settings, "pre_fixed_normalizer",
            "pre_fixed_normalizer must be positive");
  if (settings.has_pre_fixed_normalizer() &&
      settings.normalization() != caffe::LossParameter::PRE_FIXED)
    c.warn(settings, "pre_fixed_normalizer",
           "pre_fixed_normalizer has no effect without normalization: "
           "PRE_FIXED");
}

void checkMemoryLoss(LayerChecker &c) {
  checkNormalizer(c);
  refuseClassWeights(c);
}

void checkSoftmaxLoss(LayerChecker &c) {
  checkNormalizer(c);
  const caffe::LossParameter &settings = c.layer.loss_param();
  for (int i = 0; i < settings.class_weighting_size(); ++i)
    if (!(settings.class_weighting(i) >= 0) ||
        std::isinf(settings.class_weighting(i)))
      c.error(settings, "class_weighting",
              "class_weighting must be finite and not negative", i);
  if (settings.has_weight_by_label_freqs() &&
      settings.weight_by_label_freqs() && !settings.class_weighting_size())
    c.error(settings, "weight_by_label_freqs",
            "weight_by_label_freqs needs a class_weighting for each class");
  if (settings.class_weighting_size() && !settings.weight_by_label_freqs())
    c.warn(settings, "class_weighting",
           "class_weighting has no effect with weight_by_label_freqs: false");
}

/// Checks loss_param of R-FCN's losses.
void checkLossOHEM(LayerChecker &c) {
  checkNormalizer(c);
  refuseClassWeights(c);
}

void checkAccuracy(LayerChecker &c) {
  if (c.layer.accuracy_param().top_k() == 0)
    c.error(c.layer.accuracy_param(), "top_k", "top_k must be at least 1");
}

void checkSmoothL1Loss(LayerChecker &c) {
  const caffe::SmoothL1LossParameter &settings = c.layer.smooth_l1_loss_param();
  if (!(settings.sigma() > 0))
    c.error(settings, "sigma", "sigma must be above 0");
}

void checkSigmoidCrossEntropyLoss(LayerChecker &c) {
  checkNormalizer(c);
  refuseClassWeights(c);
}

void checkInfogainLoss(LayerChecker &c) {
  checkNormalizer(c);
  refuseClassWeights(c);
  const caffe::InfogainLossParameter &settings = c.layer.infogain_loss_param();
  if (c.layer.bottom_size() == 2 && !settings.has_source())
    c.reportMissing(settings, "source");
  if (c.layer.bottom_size() == 3 && settings.has_source())
    c.error(settings, "source",
            "give the infogain matrix either as source or as a third bottom");
  if (c.layer.loss_param().has_normalize())
    c.error(c.layer.loss_param(), "normalize",
            "normalize is not allowed here; use normalization");
  if (c.layer.softmax_param().has_axis())
    c.warn(c.layer.softmax_param(), "axis",
           "axis has no effect here: that of infogain_loss_param is taken");
}

} // namespace

LayerRows lossLayers() {
  return {
      LayerKind{"Accuracy", 2, 2, 1, 2, "accuracy_param"}.checkedBy(
          checkAccuracy),
      lossKind("ContrastiveLoss", 3, 3, 1, "contrastive_loss_param")
          .differentiatingBottoms(2)
          .withoutForcedGradient(2),
      lossKind("EuclideanLoss", 2, 2, 1, "").withoutForcedGradient(),
      lossKind("HingeLoss", 2, 2, 1, "hinge_loss_param"),
      lossKind("InfogainLoss", 2, 3, 2,
               "infogain_loss_param loss_param softmax_param")
          .checkedBy(checkInfogainLoss),
      lossKind("MemoryLoss", 1, 2, 1, "loss_param")
          .withoutForcedGradient()
          .checkedBy(checkMemoryLoss),
      lossKind("MultinomialLogisticLoss", 2, 2, 1, ""),
      lossKind("SigmoidCrossEntropyLoss", 2, 2, 1, "loss_param sigmoid_param")
          .checkedBy(checkSigmoidCrossEntropyLoss),
      lossKind("SmoothL1Loss", 2, 4, 1, "smooth_l1_loss_param")
          .differentiatingBottoms(2)
          .withoutForcedGradient(2, 3) // weights
          .checkedBy(checkSmoothL1Loss),
      lossKind("SmoothL1LossOHEM", 2, 3, 2, "loss_param")
          .differentiatingBottoms(2)
          .withoutForcedGradient(2) // weights
          .checkedBy(checkLossOHEM),
      lossKind("SoftmaxWithLoss", 2, 2, 2, "loss_param softmax_param")
          .checkedBy(checkSoftmaxLoss),
      lossKind("SoftmaxWithLossOHEM", 2, 2, 3, "loss_param softmax_param")
          .checkedBy(checkLossOHEM),
  };
}

} // namespace brew::prototxt
