//===- ElementLoss.cpp - Losses that compare blobs element by element
//------===//
#include "dialects/Brew/Items.h"
#include "dialects/Brew/layers/Labels.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/ElementLoss.h.inc"

using namespace mlir;
using namespace brew::ir;

namespace {

/// Caffe's LossLayer: as many items on both sides; and as much in each.
LogicalResult checkPair(Operation *op, Value x, Value t, const char *what) {
  ArrayRef<int64_t> a = shapeOf(x), b = shapeOf(t);
  if (a.empty() || b.empty() || a[0] != b[0] || countOf(a) != countOf(b)) {
    auto diagnostic = layerError(op)
                      << "the bottoms must have the same " << what << ": (";
    llvm::interleaveComma(a, diagnostic);
    diagnostic << ") and (";
    llvm::interleaveComma(b, diagnostic);
    diagnostic << ")";
    return diagnostic;
  }
  return success();
}

/// `value` under the shape of `like`, element by element in row-major order.
Value underShape(OpBuilder &b, Location loc, Value value, Value like) {
  if (shapeOf(value) == shapeOf(like))
    return value;
  return ReinterpretOp::create(
      b, loc, RankedTensorType::get(shapeOf(like), elementOf(value)), value);
}

/// A sum over elements of all inputs, which have the first's shape.
Value buildSumOver(OpBuilder &b, Location loc, ValueRange inputs,
                   RankedTensorType type,
                   llvm::function_ref<Value(Scalars &, ValueRange)> term) {
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);
  SmallVector<bool> reduction(shape.size(), true);
  Nest nest(b, loc, shape, reduction);
  for (Value input : inputs)
    nest.input(input, iota(shape.size()));
  nest.output(type, {}, 0.0);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], term(body.s, body.in))};
  })[0];
}

/// A gradient: `term` of the inputs' elements and of scalars, for each element.
Value buildGradient(
    OpBuilder &b, Location loc, ValueRange inputs, ValueRange scalars,
    llvm::function_ref<Value(Scalars &, ValueRange, ValueRange)> term) {
  auto type = RankedTensorType::get(shapeOf(inputs[0]), elementOf(inputs[0]));
  SmallVector<int64_t> all = iota(type.getRank());
  Nest nest(b, loc, type.getShape());
  for (Value input : inputs)
    nest.input(input, all);
  for (Value scalar : scalars)
    nest.input(scalar, ArrayRef<int64_t>{});
  nest.output(type, all);
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    return {term(body.s, body.in.take_front(inputs.size()),
                 body.in.drop_front(inputs.size()))};
  })[0];
}

Value negated(OpBuilder &b, Location loc, Value x) {
  return buildGradient(b, loc, x, {},
                       [](Scalars &s, ValueRange in, ValueRange) -> Value {
                         return s.neg(in[0]);
                       });
}

/// Items that are not there (see Items.h) are made to contribute nothing:
/// operand i reads fills[i] in their place. The loss is a sum over the number
/// of items.
LogicalResult countPairs(Operation *op, ItemCounts &counts,
                         ArrayRef<double> fills) {
  FailureOr<Value> count = counts.common(op);
  if (failed(count))
    return failure();
  if (!*count)
    return success();
  for (auto [i, fill] : llvm::enumerate(fills))
    counts.mask(op->getOpOperand(i), *count, fill);
  counts.average(op, *count);
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// EuclideanLoss
//===----------------------------------------------------------------------===//

LogicalResult EuclideanLossOp::inferShapes(Shapes &tops, Shapes &) {
  tops.assign({{}});
  return checkPair(*this, getX(), getT(), "number of items and elements");
}

LogicalResult EuclideanLossOp::countItems(ItemCounts &counts) {
  return countPairs(*this, counts, {0, 0});
}

LogicalResult
EuclideanLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                ArrayRef<bool> needed,
                                MutableArrayRef<Value> operandGradients) {
  Location loc = getLoc();
  Value t = underShape(b, loc, getT(), getX());
  double scale = 1.0 / shapeOf(getX())[0];
  Value dx =
      buildGradient(b, loc, {getX(), t}, resultGradients[0],
                    [&](Scalars &s, ValueRange in, ValueRange dloss) -> Value {
                      Value factor =
                          s.mul(dloss[0], s.constant(in[0].getType(), scale));
                      return s.mul(s.sub(in[0], in[1]), factor);
                    });
  if (needed[0])
    operandGradients[0] = dx;
  if (needed[1])
    operandGradients[1] = underShape(b, loc, negated(b, loc, dx), getT());
  return success();
}

SmallVector<Value> EuclideanLossOp::buildGeneric(OpBuilder &b) {
  Location loc = getLoc();
  Value t = underShape(b, loc, getT(), getX());
  Value sum = buildSumOver(b, loc, {getX(), t}, tensorOf(getLoss()),
                           [](Scalars &s, ValueRange in) -> Value {
                             Value d = s.sub(in[0], in[1]);
                             return s.mul(d, d);
                           });
  return {buildScaled(b, loc, sum, 0.5 / shapeOf(getX())[0])};
}

//===----------------------------------------------------------------------===//
// SmoothL1Loss
//===----------------------------------------------------------------------===//

LogicalResult SmoothL1LossOp::inferShapes(Shapes &tops, Shapes &) {
  tops.assign({{}});
  if (failed(checkPair(*this, getX(), getT(), "number of items and elements")))
    return failure();
  for (Value weight : getWeights())
    if (failed(checkPair(*this, getX(), weight, "number of elements")))
      return failure();
  return success();
}

LogicalResult SmoothL1LossOp::countItems(ItemCounts &counts) {
  return countPairs(*this, counts, {0, 0});
}

/// The bottoms with x's shape: x, t, inside and outside weights.
static SmallVector<Value> smoothInputs(SmoothL1LossOp op, OpBuilder &b) {
  SmallVector<Value> inputs;
  for (Value bottom : op->getOperands())
    inputs.push_back(underShape(b, op.getLoc(), bottom, op.getX()));
  return inputs;
}

/// (x - t), times the inside weight.
static Value smoothDifference(Scalars &s, ValueRange in) {
  Value d = s.sub(in[0], in[1]);
  return in.size() > 2 ? s.mul(in[2], d) : d;
}

LogicalResult
SmoothL1LossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGradients) {
  Location loc = getLoc();
  for (unsigned i = 2; i < needed.size(); ++i)
    if (needed[i])
      return layerError(*this) << "cannot backpropagate to its weights";
  double square = getSigma().convertToFloat() * getSigma().convertToFloat(),
         scale = 1.0 / shapeOf(getX())[0];
  Value dx = buildGradient(
      b, loc, smoothInputs(*this, b), resultGradients[0],
      [&](Scalars &s, ValueRange in, ValueRange dloss) -> Value {
        Type type = in[0].getType();
        Value d = smoothDifference(s, in), zero = s.constant(type, 0);
        Value size = math::AbsFOp::create(s.b, s.loc, d);
        Value sign =
            s.select(s.greater(d, zero), s.constant(type, 1),
                     s.select(s.greater(zero, d), s.constant(type, -1), zero));
        Value slope = s.select(s.greater(s.constant(type, 1 / square), size),
                               s.mul(s.constant(type, square), d), sign);
        slope = s.mul(slope, s.mul(dloss[0], s.constant(type, scale)));
        // The forks multiply by both weights or by none.
        return in.size() > 3 ? s.mul(s.mul(slope, in[2]), in[3]) : slope;
      });
  if (needed[0])
    operandGradients[0] = dx;
  if (needed[1])
    operandGradients[1] = underShape(b, loc, negated(b, loc, dx), getT());
  return success();
}

SmallVector<Value> SmoothL1LossOp::buildGeneric(OpBuilder &b) {
  double square = getSigma().convertToFloat() * getSigma().convertToFloat();
  Value sum = buildSumOver(
      b, getLoc(), smoothInputs(*this, b), tensorOf(getLoss()),
      [&](Scalars &s, ValueRange in) -> Value {
        Type type = in[0].getType();
        Value d = smoothDifference(s, in);
        Value size = math::AbsFOp::create(s.b, s.loc, d);
        Value inner = s.mul(s.mul(d, d), s.constant(type, 0.5 * square));
        Value outer = s.sub(size, s.constant(type, 0.5 / square));
        Value loss = s.select(s.greater(s.constant(type, 1 / square), size),
                              inner, outer);
        return in.size() > 3 ? s.mul(in[3], loss) : loss;
      });
  return {buildScaled(b, getLoc(), sum, 1.0 / shapeOf(getX())[0])};
}

//===----------------------------------------------------------------------===//
// SigmoidCrossEntropyLoss
//===----------------------------------------------------------------------===//

LogicalResult SigmoidCrossEntropyLossOp::inferShapes(Shapes &tops, Shapes &) {
  tops.assign({{}, {}});
  return checkPair(*this, getX(), getT(), "number of items and elements");
}

LogicalResult SigmoidCrossEntropyLossOp::countItems(ItemCounts &counts) {
  return countLabelledLoss(*this, counts, getTMutable(), {getX(), getT()});
}

/// Whether a target is the ignored one; Caffe truncates targets to integers.
static Value isIgnored(Scalars &s, Value target, int64_t ignoreLabel) {
  return s.equal(math::TruncOp::create(s.b, s.loc, target),
                 s.constant(target.getType(), ignoreLabel));
}

LogicalResult SigmoidCrossEntropyLossOp::buildGradients(
    OpBuilder &b, ArrayRef<Value> resultGradients, ArrayRef<bool> needed,
    MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to its targets";
  if (!resultGradients[0])
    return success();
  auto ignore = asOptional(getIgnoreLabel());
  Value t = underShape(b, getLoc(), getT(), getX());
  operandGradients[0] = buildGradient(
      b, getLoc(), {getX(), t}, {resultGradients[0], getNormalizer()},
      [&](Scalars &s, ValueRange in, ValueRange scalars) -> Value {
        Type type = in[0].getType();
        Value one = s.constant(type, 1);
        Value sigmoid = s.div(one, s.add(one, s.exp(s.neg(in[0]))));
        Value dx = s.mul(s.sub(sigmoid, in[1]), s.div(scalars[0], scalars[1]));
        return ignore ? s.select(isIgnored(s, in[1], *ignore),
                                 s.constant(type, 0), dx)
                      : dx;
      });
  return success();
}

SmallVector<Value> SigmoidCrossEntropyLossOp::buildGeneric(OpBuilder &b) {
  Location loc = getLoc();
  auto ignore = asOptional(getIgnoreLabel());
  auto scalar = tensorOf(getLoss());
  Value t = underShape(b, loc, getT(), getX());
  Value sum = buildSumOver(
      b, loc, {getX(), t}, scalar, [&](Scalars &s, ValueRange in) -> Value {
        Type type = in[0].getType();
        Value zero = s.constant(type, 0), x = in[0], target = in[1];
        // log(1 + exp(-|x|)) + x (positive - t), which cannot overflow.
        Value positive =
            s.select(s.greaterEqual(x, zero), s.constant(type, 1), zero);
        Value rest = math::Log1pOp::create(
            s.b, s.loc, s.exp(s.neg(math::AbsFOp::create(s.b, s.loc, x))));
        Value loss = s.add(s.mul(x, s.sub(positive, target)), rest);
        return ignore ? s.select(isIgnored(s, target, *ignore), zero, loss)
                      : loss;
      });
  Value valid;
  if (ignore && getNormalization() == Normalization::Valid)
    valid = buildSumOver(
        b, loc, t, scalar, [&](Scalars &s, ValueRange in) -> Value {
          Type type = in[0].getType();
          return s.select(isIgnored(s, in[0], *ignore), s.constant(type, 0),
                          s.constant(type, 1));
        });
  ArrayRef<int64_t> x = shapeOf(getX());
  Value normalizer = buildNormalizer(b, loc, getNormalization(), x[0],
                                     countOf(x), valid, scalar);
  return {buildQuotient(b, loc, sum, normalizer), normalizer};
}

//===----------------------------------------------------------------------===//
// ContrastiveLoss
//===----------------------------------------------------------------------===//

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

/// Pairs that are not there count as similar and equal.
LogicalResult ContrastiveLossOp::countItems(ItemCounts &counts) {
  return countPairs(*this, counts, {0, 0, 1});
}

/// Both sides as N, C and the labels as N.
static SmallVector<Value> contrastiveInputs(ContrastiveLossOp op,
                                            OpBuilder &b) {
  int64_t items = shapeOf(op.getA())[0], channels = shapeOf(op.getA())[1];
  auto as = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    if (shapeOf(value) == shape)
      return value;
    return ReinterpretOp::create(
        b, op.getLoc(), RankedTensorType::get(shape, elementOf(value)), value);
  };
  return {as(op.getA(), {items, channels}), as(op.getB(), {items, channels}),
          as(op.getSimilar(), {items})};
}

/// Whether a pair counts as similar: Caffe truncates the label to an integer.
static Value isSimilar(Scalars &s, Value label) {
  Value whole = math::TruncOp::create(s.b, s.loc, label);
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNE, whole,
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
  auto type = tensorOf(inputs[0]);
  double scale = 1.0 / type.getDimSize(0),
         margin = getMargin().convertToFloat();
  Nest nest(b, getLoc(), type.getShape());
  nest.input(inputs[0], iota(2));
  nest.input(inputs[1], iota(2));
  nest.input(inputs[2], iota(1));
  nest.input(getDistance(), iota(1));
  nest.input(resultGradients[0], ArrayRef<int64_t>{});
  nest.output(type, iota(2));
  Value da = nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Type element = type.getElementType();
    Value zero = s.constant(element, 0);
    Value alpha = s.mul(body.in[4], s.constant(element, scale));
    Value difference = s.sub(body.in[0], body.in[1]);
    Value room, beta;
    if (getLegacy()) {
      room = s.sub(s.constant(element, margin), body.in[3]);
      beta = s.neg(alpha);
    } else {
      Value distance = math::SqrtOp::create(s.b, s.loc, body.in[3]);
      room = s.sub(s.constant(element, margin), distance);
      // Caffe's guard against equal features.
      beta = s.neg(s.mul(
          alpha, s.div(room, s.add(distance, s.constant(element, 1e-4)))));
    }
    beta = s.select(s.greater(room, zero), beta, zero);
    Value factor = s.select(isSimilar(s, body.in[2]), alpha, beta);
    return {s.mul(factor, difference)};
  })[0];
  if (needed[0])
    operandGradients[0] = underShape(b, getLoc(), da, getA());
  if (needed[1])
    operandGradients[1] =
        underShape(b, getLoc(), negated(b, getLoc(), da), getB());
  return success();
}

SmallVector<Value> ContrastiveLossOp::buildGeneric(OpBuilder &b) {
  Location loc = getLoc();
  SmallVector<Value> inputs = contrastiveInputs(*this, b);
  auto rowType = tensorOf(getDistance());
  double margin = getMargin().convertToFloat();
  Nest rows(b, loc, shapeOf(inputs[0]), {false, true});
  rows.input(inputs[0], iota(2));
  rows.input(inputs[1], iota(2));
  rows.output(rowType, iota(1), 0.0);
  Value distance = rows.build([&](Nest::Body &body) -> SmallVector<Value> {
    Value d = body.s.sub(body.in[0], body.in[1]);
    return {body.s.accumulate(body.out[0], body.s.mul(d, d))};
  })[0];
  Value sum = buildSumOver(b, loc, {distance, inputs[2]}, tensorOf(getLoss()),
                           [&](Scalars &s, ValueRange in) -> Value {
                             Type type = in[0].getType();
                             Value zero = s.constant(type, 0),
                                   limit = s.constant(type, margin);
                             Value apart;
                             if (getLegacy()) {
                               apart = s.maximum(s.sub(limit, in[0]), zero);
                             } else {
                               Value root =
                                   math::SqrtOp::create(s.b, s.loc, in[0]);
                               Value room = s.maximum(s.sub(limit, root), zero);
                               apart = s.mul(room, room);
                             }
                             return s.select(isSimilar(s, in[1]), in[0], apart);
                           });
  return {buildScaled(b, loc, sum, 0.5 / rowType.getDimSize(0)), distance};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/ElementLoss.cpp.inc"

void brew::ir::registerElementLossLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/ElementLoss.cpp.inc"
      >();
}
