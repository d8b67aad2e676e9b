//===- Function.cpp - Functions of one bottom in Caffe's forks ------------===//
//
// import/layers/Function.cpp has the formula of each type.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

void checkScaledTanH(LayerChecker &c) {
  const caffe::ScaledTanHParameter &settings = c.layer.scaled_tanh_param();
  if (!settings.has_alpha())
    c.reportMissing(settings, "alpha");
  if (!settings.has_beta())
    c.reportMissing(settings, "beta");
}

void checkTruncation(LayerChecker &c) {
  const caffe::TruncationParameter &settings = c.layer.truncation_param();
  if (!(settings.lower_bound() <= settings.upper_bound()))
    c.error(settings, "lower_bound", "lower_bound is above upper_bound");
}

} // namespace

LayerRows functionLayers() {
  return {
      // Synopsys Caffe.
      neuronKind("Atan"),
      neuronKind("Ceil"),
      neuronKind("Floor"),
      neuronKind("HardSigmoid", "hard_sigmoid_param"),
      neuronKind("HardTanH"),
      neuronKind("Round"),
      neuronKind("ScaledTanH", "scaled_tanh_param").checkedBy(checkScaledTanH),
      neuronKind("SeLU", "selu_param"),
      neuronKind("Sin"),
      neuronKind("Softplus"),
      neuronKind("Softsign"),
      neuronKind("ThresholdedReLU", "thresholded_relu_param"),
      // caffe-windows.
      neuronKind("Arccos"),
      neuronKind("Cosine"),
      neuronKind("Truncation", "truncation_param").checkedBy(checkTruncation),
  };
}

} // namespace brew::prototxt
