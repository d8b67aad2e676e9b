//===- Reduction.cpp - Reduction and softmax ------------------------------===//
#include "dialects/Brew/layers/reduction/Reduction.h"
#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

bool ReductionOp::staysF32(unsigned) { return true; }

LogicalResult ReductionOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t rank = x.size(), axis = getAxis();
  if (axis < -rank || (axis >= rank && axis != 0))
    return layerError(*this) << "axis " << axis << " is outside the bottom's "
                             << rank << " dimensions";
  if (axis < 0)
    setAxis(axis += rank);
  tops.emplace_back(x.take_front(axis));
  return success();
}

LogicalResult ReductionOp::propagateItemCounts(ItemCounts &counts) {
  if (getAxis() > 0)
    return counts.propagate(*this);
  FailureOr<Value> count = counts.commonCount(*this);
  if (failed(count))
    return failure();
  if (!*count)
    return success();
  counts.maskPadding(getXMutable(), *count);
  if (getKind() == ReductionKind::Mean)
    counts.rescaleMean(*this, *count);
  return success();
}

/// Returns coeff, divided by the number of elements for MEAN.
static double reductionScale(ReductionOp op) {
  double scale = op.getCoeff().convertToFloat();
  if (op.getKind() == ReductionKind::Mean)
    scale /= countOf(shapeOf(op.getX()).drop_front(op.getAxis()));
  return scale;
}

LogicalResult
ReductionOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool>,
                            MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  auto type = tensorTypeOf(getX());
  double scale = reductionScale(*this);
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(dy, iota(getAxis()));
  bool needsX =
      getKind() == ReductionKind::Asum || getKind() == ReductionKind::Sumsq;
  if (needsX)
    nest.input(getX(), iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  operandGradients[0] =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Type element = type.getElementType();
        if (getKind() == ReductionKind::Sumsq)
          return {s.mul(s.mul(body.in[0], s.constant(element, 2 * scale)),
                        body.in[1])};
        Value dx = s.mul(body.in[0], s.constant(element, scale));
        if (getKind() == ReductionKind::Asum) {
          Value zero = s.constant(element, 0);
          Value sign =
              s.select(s.greater(body.in[1], zero), s.constant(element, 1),
                       s.select(s.greater(zero, body.in[1]),
                                s.constant(element, -1), zero));
          dx = s.mul(dx, sign);
        }
        return {dx};
      })[0];
  return success();
}

SmallVector<Value> ReductionOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> x = shapeOf(getX());
  SmallVector<bool> reduction(x.size(), false);
  for (size_t i = getAxis(); i < x.size(); ++i)
    reduction[i] = true;
  NestBuilder nest(b, getLoc(), x, reduction);
  nest.input(getX(), iota(x.size()));
  nest.output(tensorTypeOf(getY()), iota(getAxis()), 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value element = body.in[0];
    if (getKind() == ReductionKind::Asum)
      element = math::AbsFOp::create(s.b, s.loc, element);
    if (getKind() == ReductionKind::Sumsq)
      element = s.mul(element, element);
    return {s.accumulate(body.out[0], element)};
  })[0];
  double scale = reductionScale(*this);
  if (scale == 1)
    return {sum};
  NestBuilder finish(b, getLoc(), shapeOf(getY()));
  finish.input(sum, iota(getAxis()));
  finish.output(tensorTypeOf(getY()), iota(getAxis()));
  return finish.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {
        body.s.mul(body.in[0], body.s.constant(body.in[0].getType(), scale))};
  });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

bool SoftmaxOp::staysF32(unsigned) { return true; }

LogicalResult SoftmaxOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t rank = x.size(), axis = getAxis();
  if (axis < -rank || axis >= rank)
    return layerError(*this) << "axis " << axis << " is outside the bottom's "
                             << rank << " dimensions";
  if (axis < 0)
    setAxis(axis + rank);
  tops.emplace_back(x);
  return success();
}

LogicalResult
SoftmaxOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                          ArrayRef<bool>,
                          MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = SoftmaxBackwardOp::create(
        b, getLoc(), getX().getType(), getY(), dy, getLayerAttr(),
        getAxisAttr(), getLogarithmAttr());
  return success();
}

SmallVector<Value> SoftmaxOp::buildNests(OpBuilder &b) {
  if (getLogarithm())
    return {
        buildLogSoftmax(b, getLoc(), getX(), getAxis(), tensorTypeOf(getY()))};
  return {buildSoftmax(b, getLoc(), getX(), getAxis(), tensorTypeOf(getY()))};
}

SmallVector<Value> SoftmaxBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  int64_t axis = getAxis();
  SmallVector<int64_t> allDims = iota(type.getRank());
  AxisRows rows(type, axis);
  NestBuilder dot(b, getLoc(), type.getShape(), rows.reduction);
  dot.input(getY(), allDims);
  dot.input(getDy(), allDims);
  dot.output(rows.type, rows.others, 0.0);
  const bool isLog = getLogarithm();
  Value sum = dot.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value term = isLog ? body.in[1] : body.s.mul(body.in[0], body.in[1]);
    return {body.s.accumulate(body.out[0], term)};
  })[0];
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getY(), allDims);
  nest.input(getDy(), allDims);
  nest.input(sum, rows.others);
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    if (isLog)
      return {s.sub(body.in[1], s.mul(s.exp(body.in[0]), body.in[2]))};
    return {s.mul(body.in[0], s.sub(body.in[1], body.in[2]))};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/reduction/Reduction.cpp.inc"

void brew::dialects::registerReductionLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/reduction/Reduction.cpp.inc"
      >();
}
