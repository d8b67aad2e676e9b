//===- MetricLearning.cpp - Layers of face recognition nets ---------------===//

#include "dialects/Brew/layers/loss/MetricLearning.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "dialects/Brew/layers/shape/Arrays.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/layers/Formula.h"

using namespace brew::dialects;
using mlir::Value;

namespace brew::prototxt {

namespace {

void buildCenterLoss(LayerBuilder &l) {
  const caffe::CenterLossParameter &settings = l.layer.center_loss_param();
  auto op = l.layerOp<CenterLossOp>(l.integerType);
  op.setClasses(settings.num_output());
  op.setAbsolute(settings.distance_type() == "L1");
  l.checkLabels(op.getStatus());
}

/// Creates a number that changes from run to run, by a formula of n: `first`
/// plus the number of previous runs. It is the second top, if there is one.
Value changingNumber(LayerBuilder &l, int64_t first,
                     const std::string &formula) {
  auto count = l.middleOp<RunCountOp>({});
  count.setFirst(first);
  auto op = l.topCount() > 1 ? l.lastOp<ExpressionOp>(1, count.getCount())
                             : l.middleOp<ExpressionOp>(count.getCount());
  setFormula(l, op, formula, {"n"});
  return op.getY();
}

/// Creates a constant number. It is the second top, if there is one.
Value constantNumber(LayerBuilder &l, const std::string &name, float value) {
  const Value number = l.constant(name, {1}, {value});
  return l.topCount() > 1 ? l.lastOp<SplitOp>(1, number).getYs()[0] : number;
}

/// With bias_base, the bias changes over the iterations.
Value labelBias(LayerBuilder &l) {
  const caffe::LabelSpecificAddParameter &settings =
      l.layer.label_specific_add_param();
  if (!settings.has_bias_base())
    return constantNumber(l, "bias", settings.bias());
  return changingNumber(l, settings.iteration(),
                        "min(max(" + formulaText(settings.bias_base()) +
                            " + (1 + " + formulaText(settings.bias_gamma()) +
                            " * n) ^ " + formulaText(settings.bias_power()) +
                            " - 1, " + formulaText(settings.bias_min()) +
                            "), " + formulaText(settings.bias_max()) + ")");
}

/// The bias is added in training only.
void buildLabelSpecificAdd(LayerBuilder &l) {
  if (l.phase != caffe::TRAIN) {
    l.lastOp<SplitOp>(0, l.bottoms[0]).setPropagateDownAttr(l.propagateDown(0));
    if (l.topCount() > 1) // the fork does not set it
      constantNumber(l, "bias", 0);
    return;
  }
  auto op = LabelSpecificAddOp::create(
      l.b, l.loc, l.types(1, 1), {l.bottoms[0], l.bottoms[1], labelBias(l)});
  l.setTops(op, 0, 1);
  op.setPropagateDownAttr(l.propagateDown());
  l.checkLabels(op.getStatus());
}

//===----------------------------------------------------------------------===//
// Angular margins
//===----------------------------------------------------------------------===//

/// Creates the norms of the rows of x, as a column.
Value normsOf(LayerBuilder &l, Value x) {
  auto sums = l.middleOp<AxisSumOp>(formulaOf(l, x, "x ^ 2"));
  sums.setAxis(1);
  return formulaOf(l, sums.getY(), "sqrt(x)");
}

/// Creates a copy that no gradient passes.
Value withoutGradient(LayerBuilder &l, Value x) {
  auto op = l.middleOp<SplitOp>(x);
  op.setPropagateDownAttr(l.b.getDenseBoolArrayAttr({false}));
  return op.getYs()[0];
}

using MarginSettings = caffe::MarginInnerProductParameter;

/// Creates the scores of the rows x.
Value scoresOf(LayerBuilder &l, const MarginSettings &settings, Value x,
               Value w) {
  auto op = l.middleOp<InnerProductOp>({x, w});
  op.setNumOutput(settings.num_output());
  op.setAxis(1);
  return op.getY();
}

/// Creates the weight of the plain score in the score of the label.
Value plainWeight(LayerBuilder &l, const MarginSettings &settings) {
  return changingNumber(l, int64_t{settings.iteration()} + 1,
                        "max(" + formulaText(settings.base()) + " * (1 + " +
                            formulaText(settings.gamma()) + " * n) ^ " +
                            formulaText(-settings.power()) + ", " +
                            formulaText(settings.lambda_min()) + ")");
}

/// Builds the scores with the margin of the setting `type`.
void buildLabelMargin(LayerBuilder &l, const MarginSettings &settings,
                      Value scores, Value norms, Value plainScores = {}) {
  const Value weight = plainWeight(l, settings);
  llvm::SmallVector<Value> operands = {scores, norms, l.bottoms[1], weight};
  if (plainScores)
    operands.push_back(plainScores);
  auto op = LabelMarginOp::create(l.b, l.loc, l.types(1, 1), operands);
  l.setTops(op, 0, 1);
  op.setMargin(static_cast<int64_t>(settings.type()) + 1);
  l.checkLabels(op.getStatus());
}

/// Builds the scores without a margin.
void buildPlainScores(LayerBuilder &l, const MarginSettings &settings, Value x,
                      Value w) {
  plainWeight(l, settings);
  auto op = l.lastOp<InnerProductOp>(0, {x, w});
  op.setNumOutput(settings.num_output());
  op.setAxis(1);
}

/// Creates the items of the first bottom as rows.
Value itemRows(LayerBuilder &l) {
  auto op = l.firstOp<FlattenOp>(0, l.bottoms[0]);
  op.setAxis(1);
  op.setEndAxis(-1);
  return op.getY();
}

/// Builds SphereFace's layer. It normalizes the rows of its weights and keeps
/// them normalized. The gradient of the weights is that of a plain product.
void buildMarginInnerProduct(LayerBuilder &l) {
  const MarginSettings &settings = l.layer.margin_inner_product_param();
  const Value x = itemRows(l);
  auto unit = l.middleOp<UnitRowsOp>({x, l.params[0]});
  unit.setRows(settings.num_output());
  if (l.phase == caffe::TRAIN)
    l.storeParam(0, unit.getY());
  const Value w = unit.getY();
  if (settings.type() == MarginSettings::SINGLE)
    return buildPlainScores(l, settings, x, w);
  const Value scores = scoresOf(l, settings, x, withoutGradient(l, w));
  const Value plainScores = scoresOf(l, settings, withoutGradient(l, x), w);
  buildLabelMargin(l, settings, scores, normsOf(l, x), plainScores);
}

/// Builds caffe-windows' layer, whose weights have any norms.
void buildLargeMarginInnerProduct(LayerBuilder &l) {
  const MarginSettings &settings = l.layer.largemargin_inner_product_param();
  const Value x = itemRows(l), w = l.params[0];
  if (settings.type() == MarginSettings::SINGLE)
    return buildPlainScores(l, settings, x, w);
  const Value scores = scoresOf(l, settings, x, w);
  auto norms = l.middleOp<MatMulOp>({normsOf(l, x), normsOf(l, w)});
  norms.setTransposeB(true);
  buildLabelMargin(l, settings, scores, formulaOf(l, norms.getY(), "x + 1e-9"));
}

} // namespace

BuildFunctions metricLearningFunctions() {
  return {{"CenterLoss", buildCenterLoss},
          {"LabelSpecificAdd", buildLabelSpecificAdd},
          {"LargeMarginInnerProduct", buildLargeMarginInnerProduct},
          {"MarginInnerProduct", buildMarginInnerProduct}};
}

} // namespace brew::prototxt
