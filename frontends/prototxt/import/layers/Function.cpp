//===- Function.cpp - Functions of one bottom in Caffe's forks ------------===//

#include "frontends/prototxt/import/layers/Formula.h"

namespace brew::prototxt {

namespace {

/// Builds a layer without settings, whose formula has the bottom x.
template <const char *const &formula> void buildFunction(LayerBuilder &l) {
  setFormula(l, l.layerOp<dialects::ExpressionOp>(), formula, {"x"});
}

void buildFunction(LayerBuilder &l, const std::string &formula) {
  setFormula(l, l.layerOp<dialects::ExpressionOp>(), formula, {"x"});
}

void buildHardSigmoid(LayerBuilder &l) {
  const caffe::HardSigmoidParameter &settings = l.layer.hard_sigmoid_param();
  const std::string line =
      formulaText(settings.alpha()) + " * x + " + formulaText(settings.beta());
  buildFunction(l, line + " <= 0 ? 0 : " + line + " > 1 ? 1 : " + line);
}

void buildScaledTanH(LayerBuilder &l) {
  const caffe::ScaledTanHParameter &settings = l.layer.scaled_tanh_param();
  buildFunction(l, formulaText(settings.alpha()) + " * tanh(" +
                       formulaText(settings.beta()) + " * x)");
}

void buildSeLU(LayerBuilder &l) {
  const caffe::SeLUParameter &settings = l.layer.selu_param();
  const std::string lambda = formulaText(settings.lambda());
  buildFunction(l, "x > 0 ? " + lambda + " * x : " + lambda + " * " +
                       formulaText(settings.alpha()) + " * expm1(x)");
}

void buildThresholdedReLU(LayerBuilder &l) {
  buildFunction(l, "x > " +
                       formulaText(l.layer.thresholded_relu_param().alpha()) +
                       " ? x : 0");
}

void buildTruncation(LayerBuilder &l) {
  const caffe::TruncationParameter &settings = l.layer.truncation_param();
  const std::string low = formulaText(settings.lower_bound()),
                    high = formulaText(settings.upper_bound());
  buildFunction(l, "x > " + low + " ? (x < " + high + " ? x : " + high +
                       ") : " + low);
}

// The formulas of types without settings.
constexpr const char *kAtan = "atan(x)";
constexpr const char *kCeil = "ceil(x)";
constexpr const char *kFloor = "floor(x)";
constexpr const char *kHardTanH = "x > 1 ? 1 : x > -1 ? x : -1";
constexpr const char *kRound = "round(x)";
constexpr const char *kSin = "sin(x)";
constexpr const char *kSoftplus = "softplus(x)";
constexpr const char *kSoftsign = "x / (1 + abs(x))";
constexpr const char *kArccos = "acos(x)";
constexpr const char *kCosine = "cos(x)";

} // namespace

BuildFunctions functionFunctions() {
  return {{"Arccos", buildFunction<kArccos>},
          {"Atan", buildFunction<kAtan>},
          {"Ceil", buildFunction<kCeil>},
          {"Cosine", buildFunction<kCosine>},
          {"Floor", buildFunction<kFloor>},
          {"HardSigmoid", buildHardSigmoid},
          {"HardTanH", buildFunction<kHardTanH>},
          {"Round", buildFunction<kRound>},
          {"ScaledTanH", buildScaledTanH},
          {"SeLU", buildSeLU},
          {"Sin", buildFunction<kSin>},
          {"Softplus", buildFunction<kSoftplus>},
          {"Softsign", buildFunction<kSoftsign>},
          {"ThresholdedReLU", buildThresholdedReLU},
          {"Truncation", buildTruncation}};
}

} // namespace brew::prototxt
