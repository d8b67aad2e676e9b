//===- ContrastiveLoss.cpp - Distances of pairs of rows -------------------===//
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "dialects/Brew/layers/loss/Labels.h"
#include "dialects/Brew/layers/loss/Pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

bool ContrastiveLossOp::mustStayExact(unsigned operand) {
  return operand == getSimilarMutable().getOperandNumber();
}

LogicalResult ContrastiveLossOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> a = shapeOf(getA()), similar = shapeOf(getSimilar());
  if (failed(checkPair(*this, getA(), getB(), "shape")))
    return failure();
  if (a.size() < 2 || countOf(a.drop_front(2)) != 1)
    return layerError(*this) << "takes features of shape N, C (further "
                                "dimensions must be 1)";
  if (countOf(similar) != a[0])
    return layerError(*this) << "needs one label per pair: " << a[0] << ", not "
                             << countOf(similar);
  tops.assign({{}, {a[0]}});
  return success();
}

/// Padding pairs are similar and equal, so that they contribute 0.
LogicalResult ContrastiveLossOp::propagateItemCounts(ItemCounts &counts) {
  return maskPaddingPairs(*this, counts, {0, 0, 1});
}

/// Returns both blobs of features as (N, C) and the labels as (N).
static SmallVector<Value> contrastiveInputs(ContrastiveLossOp op,
                                            OpBuilder &b) {
  int64_t items = shapeOf(op.getA())[0], channels = shapeOf(op.getA())[1];
  auto reshapeTo = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    if (shapeOf(value) == shape)
      return value;
    return ReinterpretOp::create(
        b, op.getLoc(), RankedTensorType::get(shape, elementTypeOf(value)),
        value);
  };
  return {reshapeTo(op.getA(), {items, channels}),
          reshapeTo(op.getB(), {items, channels}),
          reshapeTo(op.getSimilar(), {items})};
}

/// Builds whether a pair is similar. Caffe truncates the label to an integer.
static Value isSimilar(ScalarBuilder &s, Value label) {
  Value integer = math::TruncOp::create(s.b, s.loc, label);
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNE, integer,
                               s.constant(label.getType(), 0));
}

LogicalResult
ContrastiveLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                  ArrayRef<bool> needed,
                                  MutableArrayRef<Value> operandGradients) {
  if (needed[2])
    return layerError(*this) << "cannot backpropagate to its labels";
  if (!resultGradients[0])
    return success();
  SmallVector<Value> inputs = contrastiveInputs(*this, b);
  auto type = tensorTypeOf(inputs[0]);
  double scale = 1.0 / type.getDimSize(0),
         margin = getMargin().convertToFloat();
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(inputs[0], iota(2));
  nest.input(inputs[1], iota(2));
  nest.input(inputs[2], iota(1));
  nest.input(getDistance(), iota(1));
  nest.input(resultGradients[0], ArrayRef<int64_t>{});
  nest.output(type, iota(2));
  Value da = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    Value zero = s.constant(element, 0);
    Value alpha = s.mul(body.in[4], s.constant(element, scale));
    Value difference = s.sub(body.in[0], body.in[1]);
    Value slack, beta;
    if (getLegacy()) {
      slack = s.sub(s.constant(element, margin), body.in[3]);
      beta = s.neg(alpha);
    } else {
      Value distance = math::SqrtOp::create(s.b, s.loc, body.in[3]);
      slack = s.sub(s.constant(element, margin), distance);
      // Guards against equal features like Caffe.
      beta = s.neg(s.mul(
          alpha, s.div(slack, s.add(distance, s.constant(element, 1e-4)))));
    }
    beta = s.select(s.greater(slack, zero), beta, zero);
    Value factor = s.select(isSimilar(s, body.in[2]), alpha, beta);
    return {s.mul(factor, difference)};
  })[0];
  if (needed[0])
    operandGradients[0] = reshapeLike(b, getLoc(), da, getA());
  if (needed[1])
    operandGradients[1] =
        reshapeLike(b, getLoc(), buildNegated(b, getLoc(), da), getB());
  return success();
}

SmallVector<Value> ContrastiveLossOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  SmallVector<Value> inputs = contrastiveInputs(*this, b);
  auto rowType = tensorTypeOf(getDistance());
  double margin = getMargin().convertToFloat();
  NestBuilder rows(b, loc, shapeOf(inputs[0]), {false, true});
  rows.input(inputs[0], iota(2));
  rows.input(inputs[1], iota(2));
  rows.output(rowType, iota(1), 0.0);
  Value distance =
      rows.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        Value d = body.s.sub(body.in[0], body.in[1]);
        return {body.s.accumulate(body.out[0], body.s.mul(d, d))};
      })[0];
  Value sum = buildSumOver(
      b, loc, {distance, inputs[2]}, tensorTypeOf(getLoss()),
      [&](ScalarBuilder &s, ValueRange in) -> Value {
        Type type = in[0].getType();
        Value zero = s.constant(type, 0), limit = s.constant(type, margin);
        Value dissimilarLoss;
        if (getLegacy()) {
          dissimilarLoss = s.maximum(s.sub(limit, in[0]), zero);
        } else {
          Value root = math::SqrtOp::create(s.b, s.loc, in[0]);
          Value slack = s.maximum(s.sub(limit, root), zero);
          dissimilarLoss = s.mul(slack, slack);
        }
        return s.select(isSimilar(s, in[1]), in[0], dissimilarLoss);
      });
  return {buildScaled(b, loc, sum, 0.5 / rowType.getDimSize(0)), distance};
}
