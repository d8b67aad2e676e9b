//===- Elementwise.cpp - Layers that are one scalar expression ------------===//

#include "frontends/prototxt/LayerBuild.h"
#include "frontends/prototxt/LayerCheck.h"

namespace brew::prototxt {

namespace {

void buildReLU(LayerBuild &l) {
  l.whole("relu").real("negative_slope", l.layer.relu_param().negative_slope());
}

void buildPower(LayerBuild &l) {
  const caffe::PowerParameter &settings = l.layer.power_param();
  l.whole("power")
      .real("power", settings.power())
      .real("scale", settings.scale())
      .real("shift", settings.shift());
}

void checkBias(LayerCheck &c) {
  if (c.layer.bottom_size() == 1 && c.layer.bias_param().num_axes() < -1)
    c.error(c.layer.bias_param(), "num_axes",
            "num_axes must be -1 (all the rest), 0 or more");
}

/// A second bottom takes the place of the parameter.
std::vector<ParamBlob> biasParams(const caffe::LayerParameter &layer) {
  if (layer.bottom_size() != 1)
    return {};
  return {{&layer.bias_param().filler()}};
}

void buildBias(LayerBuild &l) {
  const caffe::BiasParameter &settings = l.layer.bias_param();
  l.whole("bias")
      .integer("axis", settings.axis())
      .integer("num_axes", settings.num_axes());
}

void checkEltwise(LayerCheck &c) {
  const caffe::EltwiseParameter &settings = c.layer.eltwise_param();
  if (settings.coeff_size() == 0)
    return;
  if (settings.coeff_size() != c.layer.bottom_size())
    c.error(settings, "coeff",
            "coeff is given " + std::to_string(settings.coeff_size()) +
                " times for " + std::to_string(c.layer.bottom_size()) +
                " bottoms; it takes one for each");
  if (settings.operation() == caffe::EltwiseParameter::PROD)
    c.error(settings, "coeff", "coeff goes with operation SUM only");
  else if (settings.operation() == caffe::EltwiseParameter::MAX)
    c.warn(settings, "coeff", "coeff has no effect with operation MAX");
}

/// `stable_prod_grad` chooses between two ways to compute the same gradient;
/// only the stable one is ever built.
void buildEltwise(LayerBuild &l) {
  const caffe::EltwiseParameter &settings = l.layer.eltwise_param();
  std::vector<float> coeff;
  const char *kind = "sum";
  if (settings.operation() == caffe::EltwiseParameter::PROD)
    kind = "prod";
  else if (settings.operation() == caffe::EltwiseParameter::MAX)
    kind = "max";
  else
    coeff.assign(settings.coeff().begin(), settings.coeff().end());
  l.whole("eltwise").word("kind", "eltwise_kind", kind).reals("coeff", coeff);
}

} // namespace

LayerRows elementwiseLayers() {
  return {
      LayerKind{"Bias", 1, 2, 1, 1, "bias_param"}
          .inPlace()
          .checkedBy(checkBias)
          .withParams(biasParams)
          .builtBy(buildBias),
      LayerKind{"Eltwise", 2, -1, 1, 1, "eltwise_param"}
          .inPlace()
          .checkedBy(checkEltwise)
          .builtBy(buildEltwise),
      neuronKind("Power", "power_param").builtBy(buildPower),
      neuronKind("ReLU", "relu_param").builtBy(buildReLU),
  };
}

} // namespace brew::prototxt
