//===- Elementwise.cpp - Elementwise layers -------------------------------===//

#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "frontends/prototxt/import/layers/Formula.h"
#include "support/NumberText.h"

using namespace brew::dialects;
using llvm::APFloat;

namespace brew::prototxt {

namespace {

void buildPower(LayerBuilder &l) {
  const caffe::PowerParameter &settings = l.layer.power_param();
  auto op = l.layerOp<PowerOp>();
  op.setPower(APFloat(settings.power()));
  op.setScale(APFloat(settings.scale()));
  op.setShift(APFloat(settings.shift()));
}

template <typename Op, typename Settings>
void buildBroadcast(LayerBuilder &l, const Settings &settings) {
  auto op = l.layerOp<Op>();
  op.setAxis(settings.axis());
  op.setNumAxes(settings.num_axes());
}

void buildBias(LayerBuilder &l) {
  buildBroadcast<BiasOp>(l, l.layer.bias_param());
}

void buildScale(LayerBuilder &l) {
  buildBroadcast<ScaleOp>(l, l.layer.scale_param());
}

/// `stable_prod_grad` selects one of two computations of the same gradient;
/// this always builds the stable one.
void buildEltwise(LayerBuilder &l) {
  const caffe::EltwiseParameter &settings = l.layer.eltwise_param();
  auto op = l.layerOp<EltwiseOp>();
  op.setKind(static_cast<EltwiseKind>(settings.operation()));
  op.setSingleItem(settings.allow_single_batch_input());
  const bool isSum = settings.operation() == caffe::EltwiseParameter::SUM;
  op.setCoeff(
      {settings.coeff().data(), isSum ? size_t(settings.coeff_size()) : 0});
}

void buildExpression(LayerBuilder &l) {
  const caffe::ExpressionParameter &settings = l.layer.expression_param();
  const llvm::SmallVector<llvm::StringRef> names(l.layer.bottom().begin(),
                                                 l.layer.bottom().end());
  std::vector<int64_t> axes;
  for (const caffe::ExpressionParam &param : settings.param())
    axes.push_back(param.has_axis() ? param.axis() : -1);
  setFormula(l, l.layerOp<ExpressionOp>(), settings.expr(), names, axes);
}

//===----------------------------------------------------------------------===//
// DeepSkeleton
//===----------------------------------------------------------------------===//

/// Maps pixels without a skeleton to 0 and other pixels to one of four classes
/// of scales.
void buildQuantize(LayerBuilder &l) {
  buildFromFormula(
      l, 0,
      "bottom(0) < 1 || bottom(0) >= 200 ? 0 : bottom(0) < 12 ? 1 : "
      "bottom(0) < 36 ? 2 : bottom(0) < 80 ? 3 : 4");
}

/// Maps scales below the receptive field to numbers from -1 to 1. The optional
/// second top is 1 for such scales.
void buildRescale(LayerBuilder &l) {
  const std::string receptiveField =
      std::to_string(l.layer.rescale_param().rf());
  const std::string zeroOutside =
      "bottom(0) >= " + receptiveField + " || abs(bottom(0)) <= 1e-4 ? 0 : ";
  buildFromFormula(l, 0,
                   zeroOutside + "2 * bottom(0) / " + receptiveField + " - 1");
  if (l.topCount() > 1)
    buildFromFormula(l, 1, zeroOutside + "1");
}

} // namespace

void setFormula(LayerBuilder &l, ExpressionOp op, llvm::StringRef formula,
                llvm::ArrayRef<llvm::StringRef> names,
                llvm::ArrayRef<int64_t> axes) {
  op.setExpr(formula);
  op.setNamesAttr(l.b.getStrArrayAttr(names));
  op.setAxes(axes);
}

mlir::Value formulaOf(LayerBuilder &l, mlir::Value x, llvm::StringRef formula) {
  auto op = l.middleOp<ExpressionOp>(x);
  setFormula(l, op, formula, {"x"});
  return op.getY();
}

void buildFromFormula(LayerBuilder &l, int number, const std::string &formula) {
  setFormula(l, l.lastOp<ExpressionOp>(number, l.bottoms[0]), formula,
             {l.layer.bottom(0)});
}

std::string formulaText(float value) {
  const std::string text = shortestText(value);
  return value < 0 ? "(" + text + ")" : text;
}

BuildFunctions elementwiseFunctions() {
  return {{"Bias", buildBias},
          {"Eltwise", buildEltwise},
          {"Expression", buildExpression},
          {"Power", buildPower},
          {"Quantize", buildQuantize},
          {"Rescale", buildRescale},
          {"Scale", buildScale}};
}

} // namespace brew::prototxt
