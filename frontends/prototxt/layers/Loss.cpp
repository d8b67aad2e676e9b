//===- Loss.cpp - Losses and accuracy -------------------------------------===//

#include "frontends/prototxt/LayerBuild.h"
#include "frontends/prototxt/LayerCheck.h"

namespace brew::prototxt {

namespace {

const char *normalizationWord(const caffe::LossParameter &settings) {
  switch (normalizationOf(settings)) {
  case caffe::LossParameter::FULL:
    return "full";
  case caffe::LossParameter::VALID:
    return "valid";
  case caffe::LossParameter::BATCH_SIZE:
    return "batch_size";
  case caffe::LossParameter::NONE:
    break;
  }
  return "none";
}

void buildSoftmaxLoss(LayerBuild &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  OperationSpec &op = l.whole("softmax_loss");
  op.integer("axis", l.layer.softmax_param().axis())
      .word("normalization", "normalization", normalizationWord(settings));
  if (settings.has_ignore_label())
    op.integer("ignore_label", settings.ignore_label());
  // Loss, probabilities, normalizer, then the label check's status. Tops that
  // are not written are saved values.
  op.saves(3 - l.tops()).saves(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(3));
}

void checkAccuracy(LayerCheck &c) {
  if (c.layer.accuracy_param().top_k() == 0)
    c.error(c.layer.accuracy_param(), "top_k", "top_k must be at least 1");
}

void buildAccuracy(LayerBuild &l) {
  const caffe::AccuracyParameter &settings = l.layer.accuracy_param();
  OperationSpec &op = l.whole("accuracy");
  op.integer("axis", settings.axis()).integer("top_k", settings.top_k());
  if (settings.has_ignore_label())
    op.integer("ignore_label", settings.ignore_label());
  op.saves(2 - l.tops()).saves(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(2));
}

} // namespace

LayerRows lossLayers() {
  return {
      LayerKind{"Accuracy", 2, 2, 1, 2, "accuracy_param"}
          .checkedBy(checkAccuracy)
          .builtBy(buildAccuracy),
      lossKind("SoftmaxWithLoss", 2, 2, 2, "loss_param softmax_param")
          .builtBy(buildSoftmaxLoss),
  };
}

} // namespace brew::prototxt
