//===- MetricLearning.cpp - Layers of face recognition nets ---------------===//
#include "dialects/Brew/layers/loss/MetricLearning.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/indexing/Gather.h"
#include "dialects/Brew/layers/loss/Labels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

Value reinterpretAs(OpBuilder &b, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReinterpretOp::create(
      b, value.getLoc(), RankedTensorType::get(shape, elementTypeOf(value)),
      value);
}

/// Returns the labels as a vector.
Value labelVector(OpBuilder &b, Value label) {
  return reinterpretAs(b, label, {countOf(shapeOf(label))});
}

LogicalResult checkItems(Operation *op, Value x, Value label) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() < 2)
    return layerError(op) << "needs a bottom of at least 2 dimensions "
                             "(N, C, ...), not "
                          << shape.size();
  if (countOf(shapeOf(label)) != shape[0])
    return layerError(op) << "needs one label per item: " << shape[0]
                          << ", not " << countOf(shapeOf(label));
  return success();
}

/// Returns the map from `rank` loops to the element of a vector of one element.
AffineMap firstElement(OpBuilder &b, int64_t rank) {
  return AffineMap::get(rank, 0, {b.getAffineConstantExpr(0)}, b.getContext());
}

/// Builds whether the loops of a nest over items of `type` are at the score
/// that `label` names.
Value isScoreOf(NestBuilder::Body &body, Value label, RankedTensorType type) {
  ScalarBuilder &s = body.s;
  Value score = s.index(0);
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    score = s.addi(s.muli(score, type.getDimSize(dim)), body.loop(dim));
  Label named(s, label, countOf(type.getShape().drop_front()), std::nullopt);
  return s.both(named.inRange, s.equali(named.index, score));
}

} // namespace

//===----------------------------------------------------------------------===//
// LabelSpecificAdd
//===----------------------------------------------------------------------===//

bool LabelSpecificAddOp::mustStayExact(unsigned operand) {
  return operand != getXMutable().getOperandNumber();
}

bool LabelSpecificAddOp::staysF32(unsigned result) { return result != 0; }

LogicalResult LabelSpecificAddOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkItems(*this, getX(), getLabel())))
    return failure();
  tops.assign({SmallVector<int64_t>(shapeOf(getX())), {}});
  return success();
}

int64_t LabelSpecificAddOp::labelLimit() {
  return countOf(shapeOf(getX()).drop_front());
}

LogicalResult
LabelSpecificAddOp::buildGradients(OpBuilder &, ArrayRef<Value> resultGradients,
                                   ArrayRef<bool> needed,
                                   MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  operandGradients[0] = resultGradients[0];
  return success();
}

SmallVector<Value> LabelSpecificAddOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  const Value labels = labelVector(b, getLabel());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.input(labels, ArrayRef<int64_t>{0});
  nest.input(getBias(), firstElement(b, type.getRank()));
  nest.output(type, iota(type.getRank()));
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value x = body.in[0], bias = body.in[2];
    Value adds =
        s.both(isScoreOf(body, body.in[1], type), s.greater(x, s.neg(bias)));
    return {s.select(adds, s.add(x, bias), x)};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, getLoc(), labels, labelLimit(), std::nullopt,
                         tensorTypeOf(getStatus()));
  return {y, status};
}

//===----------------------------------------------------------------------===//
// CenterLoss
//===----------------------------------------------------------------------===//

bool CenterLossOp::mustStayExact(unsigned operand) {
  return operand != getXMutable().getOperandNumber();
}

LogicalResult CenterLossOp::inferShapes(Shapes &tops, Shapes &params) {
  if (failed(checkItems(*this, getX(), getLabel())))
    return failure();
  params.push_back({static_cast<int64_t>(getClasses()),
                    countOf(shapeOf(getX()).drop_front())});
  tops.assign({{}, {}});
  return success();
}

int64_t CenterLossOp::labelLimit() { return getClasses(); }

namespace {
/// The items of a CenterLoss as a matrix, and their labels.
struct Items {
  Value x, labels, centers;
  int64_t count, classes;

  Items(OpBuilder &b, CenterLossOp op)
      : x(reinterpretAs(
            b, op.getX(),
            {shapeOf(op.getX())[0], countOf(shapeOf(op.getX()).drop_front())})),
        labels(labelVector(b, op.getLabel())), centers(op.getCenters()),
        count(shapeOf(op.getX())[0]), classes(op.labelLimit()) {}

  /// Builds the gradient of the loss, times the number of items, at the loops
  /// of a nest like difference().
  Value slope(NestBuilder::Body &body, bool absolute) const {
    ScalarBuilder &s = body.s;
    Value d = difference(body);
    if (!absolute)
      return d;
    Value zero = s.constant(d.getType(), 0);
    return s.select(
        s.greater(d, zero), s.constant(d.getType(), 1),
        s.select(s.greater(zero, d), s.constant(d.getType(), -1), zero));
  }
  /// Builds x - centers[label] at the loops of a nest over the items, whose
  /// first inputs are x and the labels.
  Value difference(NestBuilder::Body &body) const {
    Label label(body.s, body.in[1], classes, std::nullopt);
    return body.s.sub(body.in[0],
                      body.read(centers, {label.index, body.loop(1)}));
  }
  void addInputs(NestBuilder &nest) const {
    nest.input(x, iota(2));
    nest.input(labels, ArrayRef<int64_t>{0});
  }
  /// Builds, for each item, the number of items of its class.
  Value classSizes(OpBuilder &b, Location loc) const {
    auto type = RankedTensorType::get({count}, elementTypeOf(x));
    NestBuilder nest(b, loc, {count, count}, {false, true});
    nest.input(labels, ArrayRef<int64_t>{0});
    nest.input(labels, ArrayRef<int64_t>{1});
    nest.output(type, iota(1), 0.0);
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      Label own(s, body.in[0], classes, std::nullopt),
          other(s, body.in[1], classes, std::nullopt);
      return {s.accumulate(body.out[0],
                           s.select(s.equali(own.index, other.index),
                                    s.constant(type.getElementType(), 1),
                                    s.constant(type.getElementType(), 0)))};
    })[0];
  }
};
} // namespace

LogicalResult
CenterLossOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandGradients) {
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to label inputs";
  if (!resultGradients[0])
    return success();
  const Items items(b, *this);
  auto type = tensorTypeOf(items.x);
  if (needed[0]) {
    NestBuilder nest(b, getLoc(), type.getShape());
    items.addInputs(nest);
    nest.input(resultGradients[0], ArrayRef<int64_t>{});
    nest.output(type, iota(2));
    Value dx = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      Value factor = s.mul(
          body.in[2], s.constant(type.getElementType(), 1.0 / items.count));
      return {s.mul(items.slope(body, getAbsolute()), factor)};
    })[0];
    operandGradients[0] = reinterpretAs(b, dx, shapeOf(getX()));
  }
  if (needed[2]) {
    NestBuilder nest(b, getLoc(), type.getShape());
    items.addInputs(nest);
    nest.input(items.classSizes(b, getLoc()), ArrayRef<int64_t>{0});
    nest.output(type, iota(2));
    Value terms =
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          Value divisor =
              s.add(body.in[2], s.constant(type.getElementType(), 1));
          return {s.neg(s.div(items.slope(body, getAbsolute()), divisor))};
        })[0];
    operandGradients[2] =
        EmbedBackwardOp::create(b, getLoc(), getCenters().getType(), terms,
                                items.labels, getLayerAttr());
  }
  return success();
}

SmallVector<Value> CenterLossOp::buildNests(OpBuilder &b) {
  const Items items(b, *this);
  NestBuilder nest(b, getLoc(), shapeOf(items.x), {true, true});
  items.addInputs(nest);
  nest.output(tensorTypeOf(getLoss()), {}, 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value d = items.difference(body);
    Value term = getAbsolute() ? math::AbsFOp::create(body.s.b, body.s.loc, d)
                               : body.s.mul(d, d);
    return {body.s.accumulate(body.out[0], term)};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, getLoc(), items.labels, items.classes, std::nullopt,
                         tensorTypeOf(getStatus()));
  return {
      buildScaled(b, getLoc(), sum, (getAbsolute() ? 1 : 0.5) / items.count),
      status};
}

//===----------------------------------------------------------------------===//
// ClassTargets
//===----------------------------------------------------------------------===//

bool ClassTargetsOp::mustStayExact(unsigned) { return true; }

LogicalResult ClassTargetsOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (countOf(shapeOf(getT())) != countOf(x) &&
      failed(checkItems(*this, getX(), getT())))
    return failure();
  tops.assign({SmallVector<int64_t>(x), {}});
  return success();
}

int64_t ClassTargetsOp::labelLimit() {
  return countOf(shapeOf(getX()).drop_front());
}

LogicalResult ClassTargetsOp::buildGradients(OpBuilder &, ArrayRef<Value>,
                                             ArrayRef<bool> needed,
                                             MutableArrayRef<Value>) {
  // Only the shape of x is read.
  if (needed[1])
    return layerError(*this) << "cannot backpropagate to its targets";
  return success();
}

SmallVector<Value> ClassTargetsOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY()), statusType = tensorTypeOf(getStatus());
  if (countOf(shapeOf(getT())) == countOf(type.getShape())) {
    NestBuilder valid(b, getLoc(), {});
    valid.output(statusType, {});
    return {reinterpretAs(b, getT(), type.getShape()),
            valid.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
              return {arith::ConstantOp::create(
                  body.s.b, body.s.loc,
                  b.getZeroAttr(statusType.getElementType()))};
            })[0]};
  }
  const Value labels = labelVector(b, getT());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(labels, ArrayRef<int64_t>{0});
  nest.output(type, iota(type.getRank()));
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {s.select(isScoreOf(body, body.in[0], type),
                     s.constant(type.getElementType(), 1),
                     s.constant(type.getElementType(), 0))};
  })[0];
  return {y, buildStatus(b, getLoc(), labels, labelLimit(), std::nullopt,
                         statusType)};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/loss/MetricLearning.cpp.inc"

void brew::dialects::registerMetricLearningLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/loss/MetricLearning.cpp.inc"
      >();
}
