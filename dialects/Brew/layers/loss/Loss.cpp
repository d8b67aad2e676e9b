//===- Loss.cpp - SoftmaxWithLoss and Accuracy ----------------------------===//
#include "dialects/Brew/layers/loss/Loss.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/loss/Labels.h"
#include "dialects/Brew/layers/loss/Pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cfloat>

using namespace mlir;
using namespace brew::dialects;

/// Checks the shapes of a layer that compares scores with one label per row.
template <typename Op> static LogicalResult checkLabels(Op op, Value scores) {
  ArrayRef<int64_t> x = shapeOf(scores);
  FailureOr<int64_t> axis = canonicalAxis(op, op.getAxis(), x.size());
  if (failed(axis))
    return failure();
  op.setAxis(*axis);
  return checkLabelCount(op, x, shapeOf(op.getLabel()), *axis);
}

//===----------------------------------------------------------------------===//
// SoftmaxWithLoss
//===----------------------------------------------------------------------===//

bool SoftmaxLossOp::mustStayExact(unsigned operand) {
  return operand != getXMutable().getOperandNumber();
}

/// The probabilities stay f32.
bool SoftmaxLossOp::staysF32(unsigned result) { return result == 1; }

LogicalResult SoftmaxLossOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkLabels(*this, getX())))
    return failure();
  if (Value weights = getClassWeights()) {
    int64_t classes = labelLimit(), weightCount = countOf(shapeOf(weights));
    if (weightCount != classes)
      return layerError(*this) << "class_weighting is given " << weightCount
                               << " times; it takes one for each of the "
                               << classes << " classes";
  }
  getStatus().setType(
      UnrankedTensorType::get(IntegerType::get(getContext(), 32)));
  tops.assign({{}, SmallVector<int64_t>(shapeOf(getX())), {}, {}});
  return success();
}

LogicalResult
SoftmaxLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  if (Value dloss = resultGradients[0])
    operandGradients[0] = SoftmaxLossBackwardOp::create(
        b, getLoc(), getX().getType(), getProb(), getLabel(), getNormalizer(),
        dloss, getClassWeights(), getLayerAttr(), getAxisAttr(),
        getIgnoreLabelAttr(), getLogarithmsAttr());
  return success();
}

/// Builds -log of the probability of the label of each row, times the weight of
/// its class unless `classWeights` is null; 0 for ignored labels. `prob` may
/// contain logarithms already (`areLogs`).
static Value buildLabelLosses(OpBuilder &b, Location loc, Value prob,
                              Value labels, const AxisRows &rows, int64_t axis,
                              std::optional<int64_t> ignore, Value classWeights,
                              bool areLogs = false) {
  const int64_t classes = shapeOf(prob)[axis];
  SmallVector<int64_t> rowDims = iota(rows.type.getRank());
  NestBuilder perRow(b, loc, rows.type.getShape());
  perRow.input(labels, rowDims);
  perRow.output(rows.type, rowDims);
  return perRow.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Label label(s, body.in[0], classes, ignore);
    SmallVector<Value> indices;
    for (int64_t dim : rowDims)
      indices.push_back(body.loop(dim));
    indices.insert(indices.begin() + axis, label.index);
    Value p = body.read(prob, indices);
    Type type = p.getType();
    if (!areLogs)
      p = s.log(s.maximum(p, s.constant(type, FLT_MIN)));
    Value loss = s.neg(p);
    if (classWeights)
      loss = s.mul(loss, body.read(classWeights, label.index));
    if (label.ignored)
      loss = s.select(label.ignored, s.constant(type, 0), loss);
    return {loss};
  })[0];
}

SmallVector<Value> SoftmaxLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  auto probType = tensorTypeOf(getProb());
  auto scalar = tensorTypeOf(getLoss());
  int64_t axis = getAxis(), classes = probType.getDimSize(axis);
  auto ignore = asOptional(getIgnoreLabel());
  AxisRows rows(probType, axis);
  Value prob =
      getLogarithms() ? getX() : buildSoftmax(b, loc, getX(), axis, probType);
  Value labels = labelsByRow(b, loc, getLabel(), rows);

  Value losses = buildLabelLosses(b, loc, prob, labels, rows, axis, ignore,
                                  getClassWeights(), getLogarithms());
  Value total = buildTotal(b, loc, losses, scalar);

  int64_t count = countOf(rows.type.getShape());
  int64_t outer = countOf(probType.getShape().take_front(axis));
  Value valid;
  if (getNormalization() == Normalization::Valid && ignore)
    valid = buildValidCount(b, loc, labels, classes, *ignore, scalar);
  Value normalizer =
      buildNormalizer(b, loc, getNormalization(), outer, count, valid, scalar);
  Value loss = buildQuotient(b, loc, total, normalizer);
  Value status;
  if (!getStatus().use_empty())
    status =
        buildStatus(b, loc, labels, classes, ignore, tensorTypeOf(getStatus()));
  return {loss, prob, normalizer, status};
}

SmallVector<Value> SoftmaxLossBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  int64_t axis = getAxis(), classes = type.getDimSize(axis);
  auto ignore = asOptional(getIgnoreLabel());
  AxisRows rows(type, axis);
  Value labels = labelsByRow(b, getLoc(), getLabel(), rows);
  SmallVector<int64_t> allDims = iota(type.getRank());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getProb(), allDims);
  nest.input(labels, rows.others);
  nest.input(getDloss(), ArrayRef<int64_t>{});
  nest.input(getNormalizer(), ArrayRef<int64_t>{});
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    Label label(s, body.in[1], classes, ignore);
    Value isLabelClass =
        s.both(s.equali(label.index, body.loop(axis)), label.inRange);
    Value zero = s.constant(element, 0);
    Value dx = s.sub(getLogarithms() ? zero : body.in[0],
                     s.select(isLabelClass, s.constant(element, 1), zero));
    dx = s.mul(dx, s.div(body.in[2], body.in[3]));
    if (Value weights = getClassWeights())
      dx = s.mul(dx, body.read(weights, label.index));
    if (label.ignored)
      dx = s.select(label.ignored, s.constant(element, 0), dx);
    return {dx};
  });
}

LogicalResult LabelLossesOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkLabels(*this, getProb())))
    return failure();
  tops.emplace_back(shapeOf(getLabel()));
  return success();
}

SmallVector<Value> LabelLossesOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  AxisRows rows(tensorTypeOf(getProb()), getAxis());
  Value losses =
      buildLabelLosses(b, loc, getProb(), labelsByRow(b, loc, getLabel(), rows),
                       rows, getAxis(), asOptional(getIgnoreLabel()), nullptr);
  return {reshapeLike(b, loc, losses, getLosses())};
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

bool AccuracyOp::mustStayExact(unsigned operand) {
  return operand == getLabelMutable().getOperandNumber();
}

bool AccuracyOp::staysF32(unsigned) { return true; }

LogicalResult AccuracyOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkLabels(*this, getX())))
    return failure();
  int64_t classes = shapeOf(getX())[getAxis()];
  if (static_cast<int64_t>(getTopK()) > classes)
    return layerError(*this)
           << "top_k " << getTopK() << " is larger than the number of classes "
           << classes;
  getStatus().setType(
      UnrankedTensorType::get(IntegerType::get(getContext(), 32)));
  tops.assign({{}, {classes}, {}});
  return success();
}

SmallVector<Value> AccuracyOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  auto type = tensorTypeOf(getX());
  auto scalar = tensorTypeOf(getAccuracy());
  int64_t axis = getAxis(), classes = type.getDimSize(axis);
  int64_t topK = getTopK();
  auto ignore = asOptional(getIgnoreLabel());
  AxisRows rows(type, axis);
  Value labels = labelsByRow(b, loc, getLabel(), rows);
  SmallVector<int64_t> rowDims = iota(rows.type.getRank());
  Value x = getX();

  NestBuilder readLabelScore(b, loc, rows.type.getShape());
  readLabelScore.input(labels, rowDims);
  readLabelScore.output(rows.type, rowDims);
  Value labelScore =
      readLabelScore.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        Label label(body.s, body.in[0], classes, ignore);
        SmallVector<Value> indices;
        for (int64_t dim : rowDims)
          indices.push_back(body.loop(dim));
        indices.insert(indices.begin() + axis, label.index);
        return {body.read(x, indices)};
      })[0];

  // Counts the scores that are at least as large as the label's score,
  // including itself.
  NestBuilder compare(b, loc, type.getShape(), rows.reduction);
  compare.input(x, iota(type.getRank()));
  compare.input(labelScore, rows.others);
  compare.output(rows.type, rows.others, 0.0);
  Value labelRank =
      compare.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Type element = body.in[0].getType();
        return {s.accumulate(body.out[0],
                             s.select(s.greaterEqual(body.in[0], body.in[1]),
                                      s.constant(element, 1),
                                      s.constant(element, 0)))};
      })[0];

  // Builds 1 for a correct row, and 0 for a wrong or ignored one.
  auto buildHit = [&](ScalarBuilder &s, Value labelRank, const Label &label) {
    Type element = labelRank.getType();
    Value correct = s.greaterEqual(s.constant(element, topK), labelRank);
    Value value =
        s.select(correct, s.constant(element, 1), s.constant(element, 0));
    if (label.ignored)
      value = s.select(label.ignored, s.constant(element, 0), value);
    return value;
  };
  SmallVector<bool> allReduced(rows.type.getRank(), true);
  NestBuilder sum(b, loc, rows.type.getShape(), allReduced);
  sum.input(labelRank, rowDims);
  sum.input(labels, rowDims);
  sum.output(scalar, {}, 0.0);
  Value correct = sum.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Label label(body.s, body.in[1], classes, ignore);
    return {
        body.s.accumulate(body.out[0], buildHit(body.s, body.in[0], label))};
  })[0];
  Value count;
  if (ignore)
    count = buildValidCount(b, loc, labels, classes, *ignore, scalar);
  else
    count = FillOp::create(b, loc, scalar,
                           b.getF64FloatAttr(countOf(rows.type.getShape())));
  auto ratio = [&](ScalarBuilder &s, Value numerator, Value denominator) {
    Value zero = s.constant(numerator.getType(), 0);
    return s.select(s.equal(denominator, zero), zero,
                    s.div(numerator, denominator));
  };
  NestBuilder divide(b, loc, ArrayRef<int64_t>{});
  divide.input(correct, ArrayRef<int64_t>{});
  divide.input(count, ArrayRef<int64_t>{});
  divide.output(scalar, {});
  Value accuracy =
      divide.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        return {ratio(body.s, body.in[0], body.in[1])};
      })[0];

  Value perClass;
  if (!getPerClass().use_empty()) {
    SmallVector<int64_t> extents = {classes}, dims;
    SmallVector<bool> reduction = {false};
    for (int64_t extent : rows.type.getShape()) {
      dims.push_back(extents.size());
      extents.push_back(extent);
      reduction.push_back(true);
    }
    auto classType = tensorTypeOf(getPerClass());
    NestBuilder countClasses(b, loc, extents, reduction);
    countClasses.input(labelRank, dims);
    countClasses.input(labels, dims);
    countClasses.output(classType, {0}, 0.0);
    countClasses.output(classType, {0}, 0.0);
    SmallVector<Value> classCounts =
        countClasses.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          Label label(s, body.in[1], classes, ignore);
          Type element = body.in[0].getType();
          Value zero = s.constant(element, 0);
          Value isThisClass =
              s.both(s.equali(label.index, body.loop(0)), label.inRange);
          Value counted = s.constant(element, 1);
          if (label.ignored)
            counted = s.select(label.ignored, zero, counted);
          return {
              s.accumulate(
                  body.out[0],
                  s.select(isThisClass, buildHit(s, body.in[0], label), zero)),
              s.accumulate(body.out[1], s.select(isThisClass, counted, zero))};
        });
    NestBuilder classAccuracy(b, loc, {classes});
    classAccuracy.input(classCounts[0], iota(1));
    classAccuracy.input(classCounts[1], iota(1));
    classAccuracy.output(classType, {0});
    perClass =
        classAccuracy.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          return {ratio(body.s, body.in[0], body.in[1])};
        })[0];
  }
  Value status;
  if (!getStatus().use_empty())
    status =
        buildStatus(b, loc, labels, classes, ignore, tensorTypeOf(getStatus()));
  return {accuracy, perClass, status};
}

//===----------------------------------------------------------------------===//
// Labels and item counts
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxLossOp::propagateItemCounts(ItemCounts &counts) {
  return propagateCountsOfLoss(*this, counts, getLabelMutable(),
                               {getX(), getLabel()});
}
LogicalResult AccuracyOp::propagateItemCounts(ItemCounts &counts) {
  return ignorePaddingLabels(*this, counts, getLabelMutable(),
                             {getX(), getLabel()});
}

int64_t SoftmaxLossOp::labelLimit() { return shapeOf(getX())[getAxis()]; }
int64_t AccuracyOp::labelLimit() { return shapeOf(getX())[getAxis()]; }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/loss/Loss.cpp.inc"

void brew::dialects::registerLossLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/loss/Loss.cpp.inc"
      >();
}
