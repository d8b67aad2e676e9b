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
  for (const char *field : {"algorithm", "algorithm_train"}) {
    const caffe::SoftmaxParameter &softmax = c.layer.softmax_param();
    if ((field == std::string("algorithm")
             ? softmax.algorithm()
             : softmax.algorithm_train()) == caffe::SoftmaxAlgorithm::LOG)
      c.error(softmax, field, std::string(field) + ": LOG is only for Softmax");
  }
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

/// Checks loss_param of losses without weights of classes.
void checkUnweightedLoss(LayerChecker &c) {
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

void checkSoftmaxCrossEntropyLoss(LayerChecker &c) {
  checkSigmoidCrossEntropyLoss(c);
  if (c.layer.loss_param().has_ignore_label())
    c.warn(c.layer.loss_param(), "ignore_label",
           "ignore_label has no effect, as in MyCaffe");
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

void checkCenterLoss(LayerChecker &c) {
  const caffe::CenterLossParameter &settings = c.layer.center_loss_param();
  c.count(settings, "num_output");
  c.filler(settings.center_filler());
  if (settings.axis() != 1)
    c.unsupported(settings, "axis", "axis must be 1; others are not supported");
  if (settings.distance_type() != "L2" && settings.distance_type() != "L1")
    c.error(settings, "distance_type", "distance_type must be L1 or L2");
}

std::vector<ParamBlob> centerLossParams(const caffe::LayerParameter &layer) {
  return {{&layer.center_loss_param().center_filler()}};
}

void checkLabelSpecificAdd(LayerChecker &c) {
  const caffe::LabelSpecificAddParameter &settings =
      c.layer.label_specific_add_param();
  if (settings.has_bias_base()) {
    if (settings.has_bias())
      c.warn(settings, "bias", "bias has no effect with bias_base");
  } else
    for (const char *field :
         {"bias_gamma", "bias_power", "bias_min", "bias_max", "iteration"})
      if (c.locations.find(settings, field))
        c.warn(settings, field,
               std::string(field) + " has no effect without bias_base");
  if (settings.transform_test())
    c.warn(settings, "transform_test",
           "transform_test has no effect, as in caffe-windows");
}

template <typename Settings>
void checkMarginProduct(LayerChecker &c, const Settings &settings) {
  c.count(settings, "num_output");
  c.filler(settings.weight_filler());
  if (settings.axis() != 1)
    c.unsupported(settings, "axis", "axis must be 1; others are not supported");
}

void checkMarginInnerProduct(LayerChecker &c) {
  checkMarginProduct(c, c.layer.margin_inner_product_param());
}

void checkLargeMarginInnerProduct(LayerChecker &c) {
  checkMarginProduct(c, c.layer.largemargin_inner_product_param());
}

std::vector<ParamBlob> marginParams(const caffe::LayerParameter &layer) {
  return {{&layer.margin_inner_product_param().weight_filler()}};
}

std::vector<ParamBlob> largeMarginParams(const caffe::LayerParameter &layer) {
  return {{&layer.largemargin_inner_product_param().weight_filler()}};
}

void checkSegAccuracy(LayerChecker &c) {
  const caffe::SegAccuracyParameter &settings = c.layer.seg_accuracy_param();
  if (settings.has_metric())
    c.warn(settings, "metric",
           "metric has no effect, as in DeepLab: the top has all three");
}

/// Checks the settings of sets of an anchor, a positive and negatives.
void checkTripletSets(LayerChecker &c) {
  const caffe::TripletLossParameter &settings = c.layer.triplet_loss_param();
  constexpr uint32_t kMaxNegatives = 100;
  const bool isOld = settings.has_num_triplets();
  const char *field = isOld ? "num_triplets" : "num_negatives";
  const uint32_t count =
      isOld ? settings.num_triplets() : settings.num_negatives();
  if (isOld && settings.has_num_negatives())
    c.error(settings, "num_triplets",
            "give num_negatives, or its old name num_triplets, not both");
  c.count(settings, field);
  if (count > kMaxNegatives)
    c.unsupported(settings, field,
                  std::string(field) + " above " +
                      std::to_string(kMaxNegatives) + " is not supported");
  if (!settings.has_losstype())
    c.reportMissing(settings, "losstype");
  if (settings.losstype() > 2)
    c.error(settings, "losstype", "losstype must be 0, 1 or 2");
  if (settings.use_pair() > 1)
    c.error(settings, "use_pair", "use_pair must be 0 or 1");
  if (isOld && settings.has_use_pair())
    c.error(settings, "use_pair",
            "with num_triplets, pairs are always used; give num_negatives");
}

void checkTripletLoss(LayerChecker &c) {
  if (c.layer.bottom_size() == 2)
    return checkTripletSets(c);
  c.refuse(c.layer.triplet_loss_param(),
           {"losstype", "num_triplets", "num_negatives", "use_pair"},
           "is a setting of a TripletLoss of sets, which has 2 bottoms");
  if (c.layer.bottom_size() == 4)
    c.warn(c.layer, "bottom",
           "the fourth bottom has no effect, as in the fork that has labels of "
           "triplets there; some other forks multiply by it",
           3);
}

} // namespace

LayerRows lossLayers() {
  return {
      LayerKind{"Accuracy", 2, 2, 1, 2, "accuracy_param"}.checkedBy(
          checkAccuracy),
      lossKind("CenterLoss", 2, 2, 1, "center_loss_param")
          .checkedBy(checkCenterLoss)
          .withParams(centerLossParams),
      lossKind("ContrastiveLoss", 3, 3, 1, "contrastive_loss_param")
          .differentiatingBottoms(2)
          .withoutForcedGradient(2),
      lossKind("EuclideanLoss", 2, 2, 1, "").withoutForcedGradient(),
      lossKind("HingeLoss", 2, 2, 1, "hinge_loss_param"),
      lossKind("InfogainLoss", 2, 3, 2,
               "infogain_loss_param loss_param softmax_param")
          .checkedBy(checkInfogainLoss),
      lossKind("L1Loss", 2, 2, 1, "").withoutForcedGradient(),
      LayerKind{"LabelSpecificAdd", 2, 2, 1, 2, "label_specific_add_param"}
          .inPlace()
          .withoutForcedGradient(1)
          .checkedBy(checkLabelSpecificAdd),
      // caffe-windows. The second top is the weight of the plain score.
      LayerKind{"LargeMarginInnerProduct", 2, 2, 1, 2,
                "largemargin_inner_product_param"}
          .withoutForcedGradient(1)
          .checkedBy(checkLargeMarginInnerProduct)
          .withParams(largeMarginParams),
      // SphereFace.
      LayerKind{"MarginInnerProduct", 2, 2, 1, 2, "margin_inner_product_param"}
          .withoutForcedGradient(1)
          .checkedBy(checkMarginInnerProduct)
          .withParams(marginParams),
      lossKind("MemoryLoss", 1, 2, 1, "loss_param")
          .withoutForcedGradient()
          .checkedBy(checkMemoryLoss),
      lossKind("MultinomialLogisticLoss", 2, 2, 1, ""),
      // MyCaffe.
      lossKind("NLLLoss", 2, 2, 1, "loss_param nll_loss_param")
          .checkedBy(checkUnweightedLoss),
      // DeepLab.
      LayerKind{"SegAccuracy", 2, 2, 1, 1, "seg_accuracy_param"}.checkedBy(
          checkSegAccuracy),
      lossKind("SigmoidCrossEntropyLoss", 2, 2, 1, "loss_param sigmoid_param")
          .checkedBy(checkSigmoidCrossEntropyLoss),
      lossKind("SmoothL1Loss", 2, 4, 1, "smooth_l1_loss_param")
          .differentiatingBottoms(2)
          .withoutForcedGradient(2, 3) // weights
          .checkedBy(checkSmoothL1Loss),
      lossKind("SmoothL1LossOHEM", 2, 3, 2, "loss_param")
          .differentiatingBottoms(2)
          .withoutForcedGradient(2) // weights
          .checkedBy(checkUnweightedLoss),
      // MyCaffe: a SoftmaxWithLoss.
      lossKind("SoftmaxCrossEntropy2Loss", 2, 2, 1, "loss_param softmax_param")
          .checkedBy(checkSoftmaxLoss),
      // MyCaffe: the loss of SigmoidCrossEntropyLoss with the gradient of
      // SoftmaxWithLoss.
      lossKind("SoftmaxCrossEntropyLoss", 2, 2, 1, "loss_param softmax_param")
          .checkedBy(checkSoftmaxCrossEntropyLoss),
      lossKind("SoftmaxWithLoss", 2, 2, 2, "loss_param softmax_param")
          .checkedBy(checkSoftmaxLoss),
      lossKind("SoftmaxWithLossOHEM", 2, 2, 3, "loss_param softmax_param")
          .checkedBy(checkUnweightedLoss),
      // caffe-windows: the bottoms are anchors, positives and negatives.
      // Another fork: they are sets of these, and labels that are not read.
      lossKind("TripletLoss", 2, 4, 1, "triplet_loss_param")
          .withoutForcedGradient(3)
          .checkedBy(checkTripletLoss),
  };
}

} // namespace brew::prototxt
