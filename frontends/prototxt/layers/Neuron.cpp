//===- Neuron.cpp - Activation functions ----------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"

namespace brew::prototxt {

namespace {

void checkClip(LayerChecker &c) {
  const caffe::ClipParameter &settings = c.layer.clip_param();
  // The parser checks these required fields only if clip_param exists.
  if (!settings.has_min())
    c.reportMissing(settings, "min");
  if (!settings.has_max())
    c.reportMissing(settings, "max");
}

void checkDropout(LayerChecker &c) {
  const caffe::DropoutParameter &settings = c.layer.dropout_param();
  if (!(settings.dropout_ratio() >= 0 && settings.dropout_ratio() < 1))
    c.error(settings, "dropout_ratio",
            "dropout_ratio must be at least 0 and below 1");
}

template <typename Settings>
void checkBase(LayerChecker &c, const Settings &settings) {
  if (hasBase(settings) && !(settings.base() > 0))
    c.error(settings, "base", "base must be positive, or -1 for e");
}

void checkExp(LayerChecker &c) { checkBase(c, c.layer.exp_param()); }

void checkLog(LayerChecker &c) {
  const caffe::LogParameter &settings = c.layer.log_param();
  checkBase(c, settings);
  if (settings.base() == 1)
    c.error(settings, "base", "there is no logarithm to base 1");
}

std::vector<ParamBlob> preluParams(const caffe::LayerParameter &layer) {
  const caffe::PReLUParameter &settings = layer.prelu_param();
  return {{fillerOr(settings.has_filler(), settings.filler(), 0.25f)}};
}

} // namespace

LayerRows neuronLayers() {
  return {
      // Caffe rejects in-place layers of this type.
      plainKind("AbsVal"),
      neuronKind("BNLL"),
      neuronKind("Clip", "clip_param").checkedBy(checkClip),
      neuronKind("Dropout", "dropout_param").checkedBy(checkDropout),
      neuronKind("ELU", "elu_param"),
      neuronKind("Exp", "exp_param").checkedBy(checkExp),
      neuronKind("HardSwish"),
      neuronKind("Log", "log_param").checkedBy(checkLog),
      neuronKind("Mish"),
      neuronKind("PReLU", "prelu_param").withParams(preluParams),
      neuronKind("ReLU", "relu_param"),
      neuronKind("ReLU6", "relu6_param"),
      neuronKind("Sigmoid", "sigmoid_param"),
      neuronKind("Swish", "swish_param"),
      neuronKind("TanH", "tanh_param"),
      neuronKind("Threshold", "threshold_param"),
  };
}

} // namespace brew::prototxt
