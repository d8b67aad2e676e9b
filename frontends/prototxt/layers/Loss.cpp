//===- Loss.cpp - Losses and accuracy -------------------------------------===//

#include "caffe/DataLayerKinds.h"
#include "frontends/prototxt/layers/LayerBuilder.h"
#include "frontends/prototxt/layers/LossChecks.h"

#include <cmath>
#include <optional>

namespace brew::prototxt {

namespace {

const char *normalizationName(const caffe::LossParameter &settings) {
  switch (normalizationOf(settings)) {
  case caffe::LossParameter::FULL:
    return "full";
  case caffe::LossParameter::VALID:
    return "valid";
  case caffe::LossParameter::BATCH_SIZE:
    return "batch_size";
  case caffe::LossParameter::NONE:
  case caffe::LossParameter::PRE_FIXED: // see divideByFixed()
    break;
  }
  return "none";
}

/// Divides the loss by pre_fixed_normalizer if the normalization is PRE_FIXED,
/// as in R-FCN.
void divideByFixed(LayerBuilder &l, OperationSpec &op) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  if (normalizationOf(settings) == caffe::LossParameter::PRE_FIXED)
    l.scaleFirstTop(op, 1 / settings.pre_fixed_normalizer());
}

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

bool weighsClasses(const caffe::LossParameter &settings) {
  return settings.class_weighting_size() && settings.weight_by_label_freqs();
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

/// Adds a data input with the class weights, which supports any number of
/// classes.
ValueRef addClassWeights(LayerBuilder &l) {
  caffe::LayerParameter config;
  config.set_name(l.layer.name());
  config.set_type(caffe::dataLayerType(caffe::DataLayerSource::Weights));
  config.add_top(l.layer.name() + " class weights");
  *config.mutable_loss_param()->mutable_class_weighting() =
      l.layer.loss_param().class_weighting();
  OperationSpec &input = l.dataInputOp(std::move(config), l.folder);
  input.add("tops", std::vector<std::string>()).addResults(1);
  return input.result(0);
}

void buildSoftmaxLoss(LayerBuilder &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  std::optional<ValueRef> weights;
  if (weighsClasses(settings))
    weights = addClassWeights(l);
  OperationSpec &op = l.layerOp("softmax_loss");
  if (weights)
    op.operands.push_back(*weights);
  op.integer("axis", l.layer.softmax_param().axis())
      .enumAttribute("normalization", "normalization",
                     normalizationName(settings));
  if (settings.has_ignore_label())
    op.integer("ignore_label", settings.ignore_label());
  // The results are the loss, the probabilities, the normalizer, and the status
  // of the label check. Add those that are not tops.
  op.addResults(3 - l.tops()).addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(3));
  divideByFixed(l, op);
}

void checkAccuracy(LayerChecker &c) {
  if (c.layer.accuracy_param().top_k() == 0)
    c.error(c.layer.accuracy_param(), "top_k", "top_k must be at least 1");
}

void buildAccuracy(LayerBuilder &l) {
  const caffe::AccuracyParameter &settings = l.layer.accuracy_param();
  OperationSpec &op = l.layerOp("accuracy");
  op.integer("axis", settings.axis()).integer("top_k", settings.top_k());
  if (settings.has_ignore_label())
    op.integer("ignore_label", settings.ignore_label());
  op.addResults(2 - l.tops()).addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(2));
}

void buildEuclideanLoss(LayerBuilder &l) { l.layerOp("euclidean_loss"); }

void checkSmoothL1Loss(LayerChecker &c) {
  const caffe::SmoothL1LossParameter &settings = c.layer.smooth_l1_loss_param();
  if (!(settings.sigma() > 0))
    c.error(settings, "sigma", "sigma must be above 0");
}

void buildSmoothL1Loss(LayerBuilder &l) {
  l.layerOp("smooth_l1_loss")
      .real("sigma", l.layer.smooth_l1_loss_param().sigma());
}

void checkSigmoidCrossEntropyLoss(LayerChecker &c) {
  checkNormalizer(c);
  refuseClassWeights(c);
}

/// Unlike other losses, this one divides by the number of items by default.
void buildSigmoidCrossEntropyLoss(LayerBuilder &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  const bool hasNormalization =
      settings.has_normalization() || settings.has_normalize();
  OperationSpec &op = l.layerOp("sigmoid_cross_entropy_loss");
  op.enumAttribute("normalization", "normalization",
                   hasNormalization ? normalizationName(settings)
                                    : "batch_size");
  if (settings.has_ignore_label())
    op.integer("ignore_label", settings.ignore_label());
  op.addResults(1);
  divideByFixed(l, op);
}

void buildContrastiveLoss(LayerBuilder &l) {
  const caffe::ContrastiveLossParameter &settings =
      l.layer.contrastive_loss_param();
  l.layerOp("contrastive_loss")
      .real("margin", settings.margin())
      .flag("legacy", settings.legacy_version())
      .addResults(1);
}

void buildHingeLoss(LayerBuilder &l) {
  OperationSpec &op = l.layerOp("hinge_loss");
  op.flag("squared",
          l.layer.hinge_loss_param().norm() == caffe::HingeLossParameter::L2);
  op.addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(1));
}

void buildMultinomialLogisticLoss(LayerBuilder &l) {
  OperationSpec &op = l.layerOp("multinomial_logistic_loss");
  op.addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(1));
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

/// Adds a data input with the matrix of a file, which is read when a program
/// runs and is not part of the compiled net.
ValueRef addInfogainMatrix(LayerBuilder &l) {
  caffe::LayerParameter config;
  config.set_name(l.layer.name());
  config.set_type(caffe::dataLayerType(caffe::DataLayerSource::Matrix));
  config.add_top(l.layer.name() + " infogain matrix");
  *config.mutable_infogain_loss_param() = l.layer.infogain_loss_param();
  OperationSpec &input = l.dataInputOp(std::move(config), l.folder);
  input.add("tops", std::vector<std::string>()).addResults(1);
  return input.result(0);
}

void buildInfogainLoss(LayerBuilder &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  const bool isFromFile = l.bottoms() == 2;
  ValueRef matrix;
  if (isFromFile)
    matrix = addInfogainMatrix(l);
  OperationSpec &op = l.layerOp("infogain_loss");
  if (isFromFile)
    op.operands.push_back(matrix);
  op.integer("axis", l.layer.infogain_loss_param().axis())
      .enumAttribute("normalization", "normalization",
                     normalizationName(settings));
  if (settings.has_ignore_label())
    op.integer("ignore_label", settings.ignore_label());
  op.addResults(3 - l.tops()).addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(3));
  divideByFixed(l, op);
}

/// Adds a data input for the loss: the caller writes it like the values of an
/// Input layer.
void buildMemoryLoss(LayerBuilder &l) {
  const std::string &top = l.graph.blobs[l.entry.tops[0]].name;
  caffe::LayerParameter config;
  config.set_name(l.layer.name());
  config.set_type(caffe::dataLayerType(caffe::DataLayerSource::Input));
  config.add_top(top.empty() ? l.layer.name() : top);
  config.mutable_input_param()->add_shape();
  OperationSpec &input = l.dataInputOp(std::move(config), "");
  input.add("tops", std::vector<std::string>()).addResults(1);
  const ValueRef value = input.result(0);
  const caffe::LossParameter &settings = l.layer.loss_param();
  std::vector<std::string> blobs;
  for (int bottom : l.entry.bottoms)
    blobs.push_back(l.graph.blobs[bottom].name);
  OperationSpec &op = l.layerOp("memory_loss");
  op.operands.push_back(value);
  op.add("blobs", blobs)
      .enumAttribute("normalization", "normalization",
                     normalizationName(settings));
  divideByFixed(l, op);
}

} // namespace

LayerRows lossLayers() {
  return {
      LayerKind{"Accuracy", 2, 2, 1, 2, "accuracy_param"}
          .checkedBy(checkAccuracy)
          .builtBy(buildAccuracy),
      lossKind("ContrastiveLoss", 3, 3, 1, "contrastive_loss_param")
          .withoutForcedGradient(2)
          .builtBy(buildContrastiveLoss),
      lossKind("EuclideanLoss", 2, 2, 1, "")
          .withoutForcedGradient()
          .builtBy(buildEuclideanLoss),
      lossKind("HingeLoss", 2, 2, 1, "hinge_loss_param")
          .builtBy(buildHingeLoss),
      lossKind("InfogainLoss", 2, 3, 2,
               "infogain_loss_param loss_param softmax_param")
          .checkedBy(checkInfogainLoss)
          .builtBy(buildInfogainLoss),
      lossKind("MemoryLoss", 1, 2, 1, "loss_param")
          .withoutForcedGradient()
          .checkedBy(checkMemoryLoss)
          .builtBy(buildMemoryLoss),
      lossKind("MultinomialLogisticLoss", 2, 2, 1, "")
          .builtBy(buildMultinomialLogisticLoss),
      lossKind("SigmoidCrossEntropyLoss", 2, 2, 1, "loss_param sigmoid_param")
          .checkedBy(checkSigmoidCrossEntropyLoss)
          .builtBy(buildSigmoidCrossEntropyLoss),
      lossKind("SmoothL1Loss", 2, 4, 1, "smooth_l1_loss_param")
          .withoutForcedGradient(2, 3) // weights
          .checkedBy(checkSmoothL1Loss)
          .builtBy(buildSmoothL1Loss),
      lossKind("SoftmaxWithLoss", 2, 2, 2, "loss_param softmax_param")
          .checkedBy(checkSoftmaxLoss)
          .builtBy(buildSoftmaxLoss),
  };
}

} // namespace brew::prototxt
