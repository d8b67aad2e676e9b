//===- Neuron.cpp - Activation functions ----------------------------------===//

#include "dialects/Brew/layers/elementwise/Neuron.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;
using llvm::APFloat;

namespace brew::prototxt {

namespace {

void buildReLU(LayerBuilder &l) {
  l.layerOp<ReLUOp>().setNegativeSlope(
      APFloat(l.layer.relu_param().negative_slope()));
}

void buildReLU6(LayerBuilder &l) {
  l.layerOp<ReLU6Op>().setNegativeSlope(
      APFloat(l.layer.relu6_param().negative_slope()));
}

void buildClip(LayerBuilder &l) {
  auto op = l.layerOp<ClipOp>();
  op.setMin(APFloat(l.layer.clip_param().min()));
  op.setMax(APFloat(l.layer.clip_param().max()));
}

/// Values are dropped in training only. The scale that compensates for this is
/// applied in training or, if scale_train is false, in the test phase.
void buildDropout(LayerBuilder &l) {
  const caffe::DropoutParameter &settings = l.layer.dropout_param();
  const float ratio = settings.dropout_ratio();
  const bool drops = l.phase == caffe::TRAIN || settings.sample_weights_test();
  if (!drops && ratio != 0 && !settings.scale_train()) {
    auto op = l.layerOp<PowerOp>();
    op.setPower(APFloat(1.0F));
    op.setScale(APFloat(1 - ratio));
    op.setShift(APFloat(0.0F));
  } else if (!drops || ratio == 0) {
    l.layerOp<SplitOp>();
  } else {
    auto op = l.layerOp<DropoutOp>({}, l.randomKey());
    op.setRatio(APFloat(ratio));
    op.setUnscaled(!settings.scale_train());
  }
}

void buildELU(LayerBuilder &l) {
  l.layerOp<ELUOp>().setAlpha(APFloat(l.layer.elu_param().alpha()));
}

void buildSwish(LayerBuilder &l) {
  l.layerOp<SwishOp>().setBeta(APFloat(l.layer.swish_param().beta()));
}

void buildThreshold(LayerBuilder &l) {
  l.layerOp<ThresholdOp>().setThreshold(
      APFloat(l.layer.threshold_param().threshold()));
}

template <typename Op, typename Settings>
void buildWithBase(LayerBuilder &l, const Settings &settings) {
  auto op = l.layerOp<Op>();
  if (hasBase(settings))
    op.setBase(APFloat(settings.base()));
  op.setScale(APFloat(settings.scale()));
  op.setShift(APFloat(settings.shift()));
}

void buildExp(LayerBuilder &l) { buildWithBase<ExpOp>(l, l.layer.exp_param()); }

void buildLog(LayerBuilder &l) { buildWithBase<LogOp>(l, l.layer.log_param()); }

void buildPReLU(LayerBuilder &l) {
  l.layerOp<PReLUOp>().setChannelShared(l.layer.prelu_param().channel_shared());
}

} // namespace

BuildFunctions neuronFunctions() {
  return {{"AbsVal", buildPlain<AbsValOp>},
          {"BNLL", buildPlain<BNLLOp>},
          {"Clip", buildClip},
          {"Dropout", buildDropout},
          {"ELU", buildELU},
          {"Exp", buildExp},
          {"HardSwish", buildPlain<HardSwishOp>},
          {"Log", buildLog},
          {"Mish", buildPlain<MishOp>},
          {"PReLU", buildPReLU},
          {"ReLU", buildReLU},
          {"ReLU6", buildReLU6},
          {"Sigmoid", buildPlain<SigmoidOp>},
          {"Swish", buildSwish},
          {"TanH", buildPlain<TanHOp>},
          {"Threshold", buildThreshold}};
}

} // namespace brew::prototxt
