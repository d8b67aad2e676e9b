//===- Pooling.cpp - Max and average pooling ------------------------------===//
//
// Window clipping follows Caffe; PoolingShapes.h computes sizes.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/pooling/Pooling.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/pooling/PoolingShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>

using namespace mlir;
using namespace brew::dialects;

namespace {
/// Returns the loops of a gathering backward pass: n c h w | windows.
SmallVector<int64_t> gatherExtents(ArrayRef<int64_t> x, const WindowAxis &rows,
                                   const WindowAxis &columns) {
  SmallVector<int64_t> extents(x);
  extents.push_back(coveringWindows(rows));
  extents.push_back(coveringWindows(columns));
  return extents;
}
} // namespace

//===----------------------------------------------------------------------===//
// Max
//===----------------------------------------------------------------------===//

/// A mask contains positions.
bool MaxPoolingOp::staysF32(unsigned result) { return result == 1; }

LogicalResult MaxPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y;
  if (failed(poolShape(*this, y)))
    return failure();
  tops.assign(getNumResults(), y);
  // The size of the window determines the type of the saved positions.
  getArgmax().setType(UnrankedTensorType::get(
      positionType(getContext(), getKernel()[0] * getKernel()[1])));
  return success();
}

LogicalResult
MaxPoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool>,
                             MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = MaxPoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getArgmax(), getLayerAttr(),
        getKernelAttr(), getStrideAttr(), getPadAttr());
  return success();
}

/// Builds Caffe's mask: the position of each maximum in the input plane.
static Value buildMask(OpBuilder &b, MaxPoolingOp op, const WindowAxis &rows,
                       const WindowAxis &columns, Value y, Value argmax) {
  NestBuilder nest(b, op.getLoc(), shapeOf(y));
  nest.input(y, {0, 1, 2, 3});
  nest.input(argmax, {0, 1, 2, 3});
  nest.output(tensorTypeOf(op.getMask()), {0, 1, 2, 3});
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type type = elementTypeOf(op.getMask());
    Value tap =
        arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), body.in[1]);
    auto position = [&](const WindowAxis &axis, unsigned loop, Value within) {
      Value start = s.muli(body.loop(loop), axis.stride);
      return s.subi(s.addi(start, within), s.index(axis.pad));
    };
    Value row = position(rows, 2, s.divi(tap, columns.kernel));
    Value column = position(columns, 3, s.remi(tap, columns.kernel));
    Value planePosition = s.addi(s.muli(row, columns.in), column);
    planePosition =
        arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), planePosition);
    Value hasMaximum =
        s.greater(body.in[0], s.constant(body.in[0].getType(), -FLT_MAX));
    return {s.select(hasMaximum,
                     arith::SIToFPOp::create(s.b, s.loc, type, planePosition),
                     s.constant(type, -1))};
  })[0];
}

SmallVector<Value> MaxPoolingOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  WindowAxis rows = axisOf(*this, 0, in, out),
             columns = axisOf(*this, 1, in, out);
  bool needsMask = getMask() && !getMask().use_empty();
  bool needsArgmax = needsMask || !getArgmax().use_empty();
  NestBuilder nest(
      b, getLoc(),
      {out[0], out[1], out[2], out[3], rows.kernel, columns.kernel},
      kWindowReduction);
  // Caffe starts at -FLT_MAX in every precision.
  nest.output(tensorTypeOf(getY()), {0, 1, 2, 3}, -FLT_MAX);
  if (needsArgmax)
    nest.output(tensorTypeOf(getArgmax()), {0, 1, 2, 3}, 0);
  Value x = getX();
  SmallVector<Value> results = nest.build([&](NestBuilder::Body &body)
                                              -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid;
    Value row = tapPosition(s, rows, body.loop(2), body.loop(4), valid);
    Value column = tapPosition(s, columns, body.loop(3), body.loop(5), valid);
    Value element = body.read(x, {body.loop(0), body.loop(1), row, column});
    Value larger = s.greater(element, body.out[0]);
    if (valid)
      larger = s.both(larger, valid);
    SmallVector<Value> next = {s.select(larger, element, body.out[0])};
    if (needsArgmax) {
      Value tap = s.addi(s.muli(body.loop(4), columns.kernel), body.loop(5));
      tap = arith::IndexCastOp::create(s.b, s.loc, body.out[1].getType(), tap);
      next.push_back(s.select(larger, tap, body.out[1]));
    }
    return next;
  });
  if (!needsArgmax)
    results.push_back(Value());
  if (getMask())
    results.insert(results.begin() + 1, needsMask
                                            ? buildMask(b, *this, rows, columns,
                                                        results[0], results[1])
                                            : Value());
  return results;
}

SmallVector<Value> MaxPoolingBackwardOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  WindowAxis rows = axisOf(*this, 0, in, out),
             columns = axisOf(*this, 1, in, out);
  NestBuilder nest(b, getLoc(), gatherExtents(in, rows, columns),
                   kWindowReduction);
  nest.output(tensorTypeOf(getDx()), {0, 1, 2, 3}, 0.0);
  Value dy = getDy(), argmax = getArgmax();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid, tapRow, tapColumn;
    Value p =
        coveringWindow(s, rows, body.loop(2), body.loop(4), tapRow, valid);
    Value q = coveringWindow(s, columns, body.loop(3), body.loop(5), tapColumn,
                             valid);
    SmallVector<Value> indices = {body.loop(0), body.loop(1), p, q};
    Value tap = s.addi(s.muli(tapRow, columns.kernel), tapColumn);
    Value isMaximum = s.equali(
        body.read(argmax, indices),
        arith::IndexCastOp::create(s.b, s.loc, elementTypeOf(argmax), tap));
    if (valid)
      isMaximum = s.both(isMaximum, valid);
    Value gradient = body.read(dy, indices);
    return {
        s.accumulate(body.out[0], s.select(isMaximum, gradient,
                                           s.constant(gradient.getType(), 0)))};
  });
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

LogicalResult AveragePoolingOp::inferShapes(Shapes &tops, Shapes &) {
  return poolShape(*this, tops.emplace_back());
}

LogicalResult
AveragePoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                 ArrayRef<bool>,
                                 MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = AveragePoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getLayerAttr(), getKernelAttr(),
        getStrideAttr(), getPadAttr());
  return success();
}

/// Builds the number of elements of the window at `out` inside the padded
/// input, along one axis.
static Value windowExtent(ScalarBuilder &s, const WindowAxis &axis, Value out) {
  Value start = s.muli(out, axis.stride);
  Value end = s.addi(start, s.index(axis.kernel));
  Value limit = s.index(axis.in + 2 * axis.pad);
  return s.subi(arith::MinSIOp::create(s.b, s.loc, end, limit), start);
}

/// Builds the divisor of the window at (p, q), in the element type.
static Value buildDivisor(ScalarBuilder &s, const WindowAxis &rows,
                          const WindowAxis &columns, Value p, Value q,
                          Type type) {
  auto windowsAreComplete = [](const WindowAxis &axis) {
    return (axis.out - 1) * axis.stride + axis.kernel <= axis.in + 2 * axis.pad;
  };
  if (windowsAreComplete(rows) && windowsAreComplete(columns))
    return s.constant(type, rows.kernel * columns.kernel);
  Value size = arith::MulIOp::create(s.b, s.loc, windowExtent(s, rows, p),
                                     windowExtent(s, columns, q));
  Value integer =
      arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), size);
  return arith::SIToFPOp::create(s.b, s.loc, type, integer);
}

/// Returns whether one window covers the complete input.
static bool coversInput(const WindowAxis &axis) {
  return axis.out == 1 && axis.kernel >= axis.in + axis.pad;
}

/// Builds the sums of windows that cover complete planes, in memory order.
static Value sumPlanes(OpBuilder &b, Location loc, Value x,
                       RankedTensorType y) {
  ArrayRef<int64_t> in = shapeOf(x);
  NestBuilder nest(b, loc, {in[0], in[1], 1, 1, in[2], in[3]},
                   kWindowReduction);
  nest.input(x, {0, 1, 4, 5});
  nest.output(y, {0, 1, 2, 3}, 0.0);
  return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];
}

/// Builds the sums of all windows over elements inside the bottom.
static Value sumWindows(OpBuilder &b, AveragePoolingOp op,
                        const WindowAxis &rows, const WindowAxis &columns) {
  ArrayRef<int64_t> out = shapeOf(op.getY());
  NestBuilder nest(
      b, op.getLoc(),
      {out[0], out[1], out[2], out[3], rows.kernel, columns.kernel},
      kWindowReduction);
  nest.output(tensorTypeOf(op.getY()), {0, 1, 2, 3}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid;
    Value row = tapPosition(s, rows, body.loop(2), body.loop(4), valid);
    Value column = tapPosition(s, columns, body.loop(3), body.loop(5), valid);
    Value element =
        body.read(op.getX(), {body.loop(0), body.loop(1), row, column});
    if (valid)
      element = s.select(valid, element, s.constant(element.getType(), 0));
    return {s.accumulate(body.out[0], element)};
  })[0];
}

SmallVector<Value> AveragePoolingOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  WindowAxis rows = axisOf(*this, 0, in, out),
             columns = axisOf(*this, 1, in, out);
  const Value sum = coversInput(rows) && coversInput(columns)
                        ? sumPlanes(b, getLoc(), getX(), tensorTypeOf(getY()))
                        : sumWindows(b, *this, rows, columns);
  NestBuilder mean(b, getLoc(), out);
  mean.input(sum, {0, 1, 2, 3});
  mean.output(tensorTypeOf(getY()), {0, 1, 2, 3});
  return mean.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value size = buildDivisor(body.s, rows, columns, body.loop(2), body.loop(3),
                              body.in[0].getType());
    return {body.s.div(body.in[0], size)};
  });
}

/// Builds the gradient of windows that cover complete planes: one quotient for
/// all elements of a plane, in memory order.
static Value spreadOverPlanes(OpBuilder &b, AveragePoolingBackwardOp op,
                              const WindowAxis &rows,
                              const WindowAxis &columns) {
  const Value dy = op.getDy();
  NestBuilder quotient(b, op.getLoc(), shapeOf(dy));
  quotient.input(dy, {0, 1, 2, 3});
  quotient.output(
      tensorTypeOf(dy).clone(tensorTypeOf(op.getDx()).getElementType()),
      {0, 1, 2, 3});
  const Value quotients =
      quotient.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        Value size = buildDivisor(body.s, rows, columns, body.loop(2),
                                  body.loop(3), body.in[0].getType());
        return {body.s.div(body.in[0], size)};
      })[0];
  NestBuilder spread(b, op.getLoc(), shapeOf(op.getDx()));
  const AffineExpr zero = b.getAffineConstantExpr(0);
  spread.input(quotients, AffineMap::get(4, 0,
                                         {b.getAffineDimExpr(0),
                                          b.getAffineDimExpr(1), zero, zero},
                                         b.getContext()));
  spread.output(tensorTypeOf(op.getDx()), {0, 1, 2, 3});
  return spread.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.in[0]};
  })[0];
}

SmallVector<Value> AveragePoolingBackwardOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  WindowAxis rows = axisOf(*this, 0, in, out),
             columns = axisOf(*this, 1, in, out);
  Value dy = getDy();
  if (coversInput(rows) && coversInput(columns))
    return {spreadOverPlanes(b, *this, rows, columns)};
  NestBuilder nest(b, getLoc(), gatherExtents(in, rows, columns),
                   kWindowReduction);
  nest.output(tensorTypeOf(getDx()), {0, 1, 2, 3}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid, tapRow, tapColumn;
    Value p =
        coveringWindow(s, rows, body.loop(2), body.loop(4), tapRow, valid);
    Value q = coveringWindow(s, columns, body.loop(3), body.loop(5), tapColumn,
                             valid);
    Value gradient = body.read(dy, {body.loop(0), body.loop(1), p, q});
    gradient = s.div(gradient,
                     buildDivisor(s, rows, columns, p, q, gradient.getType()));
    if (valid)
      gradient = s.select(valid, gradient, s.constant(gradient.getType(), 0));
    return {s.accumulate(body.out[0], gradient)};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/pooling/Pooling.cpp.inc"

void brew::dialects::registerPoolingLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/pooling/Pooling.cpp.inc"
      >();
}
