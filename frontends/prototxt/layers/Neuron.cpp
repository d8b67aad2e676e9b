//===- Neuron.cpp - Activation functions ----------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

#include <cmath>

namespace brew::prototxt {

namespace {

// Layers without settings, or with an engine only.
void buildAbsVal(LayerBuilder &l) { l.layerOp("absval"); }
void buildBNLL(LayerBuilder &l) { l.layerOp("bnll"); }
void buildHardSwish(LayerBuilder &l) { l.layerOp("hard_swish"); }
void buildSigmoid(LayerBuilder &l) { l.layerOp("sigmoid"); }
void buildTanH(LayerBuilder &l) { l.layerOp("tanh"); }

void buildReLU(LayerBuilder &l) {
  l.layerOp("relu").real("negative_slope",
                         l.layer.relu_param().negative_slope());
}

void buildReLU6(LayerBuilder &l) {
  l.layerOp("relu6").real("negative_slope",
                          l.layer.relu6_param().negative_slope());
}

void checkClip(LayerChecker &c) {
  const caffe::ClipParameter &settings = c.layer.clip_param();
  // The parser checks these required fields only if clip_param exists.
  if (!settings.has_min())
    c.reportMissing(settings, "min");
  if (!settings.has_max())
    c.reportMissing(settings, "max");
}

void buildClip(LayerBuilder &l) {
  l.layerOp("clip")
      .real("min", l.layer.clip_param().min())
      .real("max", l.layer.clip_param().max());
}

void checkDropout(LayerChecker &c) {
  const caffe::DropoutParameter &settings = c.layer.dropout_param();
  if (!(settings.dropout_ratio() >= 0 && settings.dropout_ratio() < 1))
    c.error(settings, "dropout_ratio",
            "dropout_ratio must be at least 0 and below 1");
}

/// Values are dropped in training only. The scale that compensates for this is
/// applied in training or, if scale_train is false, in the test phase.
void buildDropout(LayerBuilder &l) {
  const caffe::DropoutParameter &settings = l.layer.dropout_param();
  const float ratio = settings.dropout_ratio();
  if (l.phase != caffe::TRAIN && ratio != 0 && !settings.scale_train()) {
    l.layerOp("power")
        .real("power", 1)
        .real("scale", 1 - ratio)
        .real("shift", 0);
    return;
  }
  if (l.phase != caffe::TRAIN || ratio == 0) {
    l.layerOp("split");
    return;
  }
  const ValueRef key = l.randomKey();
  OperationSpec &op = l.layerOp("dropout")
                          .real("ratio", ratio)
                          .flag("unscaled", !settings.scale_train());
  op.operands.push_back(key);
}

void buildELU(LayerBuilder &l) {
  l.layerOp("elu").real("alpha", l.layer.elu_param().alpha());
}

void buildSwish(LayerBuilder &l) {
  l.layerOp("swish").real("beta", l.layer.swish_param().beta());
}

void buildThreshold(LayerBuilder &l) {
  l.layerOp("threshold")
      .real("threshold", l.layer.threshold_param().threshold());
}

/// A base of -1 means e.
template <typename Settings> bool hasBase(const Settings &settings) {
  return settings.base() != -1;
}

template <typename Settings>
void checkBase(LayerChecker &c, const Settings &settings) {
  if (hasBase(settings) && !(settings.base() > 0))
    c.error(settings, "base", "base must be positive, or -1 for e");
}

template <typename Settings>
void buildWithBase(LayerBuilder &l, const char *name,
                   const Settings &settings) {
  OperationSpec &op = l.layerOp(name);
  if (hasBase(settings))
    op.real("base", settings.base());
  op.real("scale", settings.scale()).real("shift", settings.shift());
}

void checkExp(LayerChecker &c) { checkBase(c, c.layer.exp_param()); }

void buildExp(LayerBuilder &l) { buildWithBase(l, "exp", l.layer.exp_param()); }

void buildMish(LayerBuilder &l) { l.layerOp("mish"); }

void checkLog(LayerChecker &c) {
  const caffe::LogParameter &settings = c.layer.log_param();
  checkBase(c, settings);
  if (settings.base() == 1)
    c.error(settings, "base", "there is no logarithm to base 1");
}

void buildLog(LayerBuilder &l) { buildWithBase(l, "log", l.layer.log_param()); }

std::vector<ParamBlob> preluParams(const caffe::LayerParameter &layer) {
  const caffe::PReLUParameter &settings = layer.prelu_param();
  return {{fillerOr(settings.has_filler(), settings.filler(), 0.25f)}};
}

void buildPReLU(LayerBuilder &l) {
  l.layerOp("prelu").flag("channel_shared",
                          l.layer.prelu_param().channel_shared());
}

} // namespace

LayerRows neuronLayers() {
  return {
      // Caffe rejects in-place layers of this type.
      plainKind("AbsVal").builtBy(buildAbsVal),
      neuronKind("BNLL").builtBy(buildBNLL),
      neuronKind("Clip", "clip_param").checkedBy(checkClip).builtBy(buildClip),
      neuronKind("Dropout", "dropout_param")
          .checkedBy(checkDropout)
          .builtBy(buildDropout),
      neuronKind("ELU", "elu_param").builtBy(buildELU),
      neuronKind("Exp", "exp_param").checkedBy(checkExp).builtBy(buildExp),
      neuronKind("HardSwish").builtBy(buildHardSwish),
      neuronKind("Log", "log_param").checkedBy(checkLog).builtBy(buildLog),
      neuronKind("Mish").builtBy(buildMish),
      neuronKind("PReLU", "prelu_param")
          .withParams(preluParams)
          .builtBy(buildPReLU),
      neuronKind("ReLU", "relu_param").builtBy(buildReLU),
      neuronKind("ReLU6", "relu6_param").builtBy(buildReLU6),
      neuronKind("Sigmoid", "sigmoid_param").builtBy(buildSigmoid),
      neuronKind("Swish", "swish_param").builtBy(buildSwish),
      neuronKind("TanH", "tanh_param").builtBy(buildTanH),
      neuronKind("Threshold", "threshold_param").builtBy(buildThreshold),
  };
}

} // namespace brew::prototxt
