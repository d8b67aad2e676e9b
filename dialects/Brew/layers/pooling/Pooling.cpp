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
/// The nests over a pooling's windows. The loops of a forward pass are those of
/// the top's elements | taps; the loops of a gathering backward pass are those
/// of the bottom's elements | covering windows.
class PoolingWindows {
public:
  template <typename Op>
  PoolingWindows(Op op, ArrayRef<int64_t> in, ArrayRef<int64_t> out)
      : axes(axesOf(op, in, out)), dims(iota(in.size())), in(in), out(out),
        reduction(in.size() + axes.size(), false) {
    std::fill(reduction.begin() + dims.size(), reduction.end(), true);
  }

  NestBuilder forwardNest(OpBuilder &b, Location loc) const {
    SmallVector<int64_t> extents(out);
    for (const WindowAxis &axis : axes)
      extents.push_back(axis.kernel);
    return {b, loc, extents, reduction};
  }
  NestBuilder backwardNest(OpBuilder &b, Location loc) const {
    SmallVector<int64_t> extents(in);
    for (const WindowAxis &axis : axes)
      extents.push_back(coveringWindows(axis));
    return {b, loc, extents, reduction};
  }

  /// Returns the element of the bottom at the current tap of a forward nest.
  Value readTap(NestBuilder::Body &body, Value x, Value &valid) const {
    SmallVector<Value> indices = {body.loop(0), body.loop(1)};
    for (auto [i, axis] : llvm::enumerate(axes))
      indices.push_back(tapPosition(body.s, axis, body.loop(2 + i),
                                    body.loop(dims.size() + i), valid));
    return body.read(x, indices);
  }
  /// Returns the number of the current tap of a forward nest.
  Value tapNumber(NestBuilder::Body &body) const {
    SmallVector<Value> taps;
    for (size_t i = 0; i < axes.size(); ++i)
      taps.push_back(body.loop(dims.size() + i));
    return numberOf(body.s, taps);
  }
  /// Returns the indices of the top's element at the current window of a
  /// backward nest. Sets the number of the tap that reads the bottom's element.
  SmallVector<Value> coveringIndices(NestBuilder::Body &body, Value &tap,
                                     Value &valid) const {
    SmallVector<Value> indices = {body.loop(0), body.loop(1)}, taps;
    for (auto [i, axis] : llvm::enumerate(axes))
      indices.push_back(coveringWindow(body.s, axis, body.loop(2 + i),
                                       body.loop(dims.size() + i),
                                       taps.emplace_back(), valid));
    tap = numberOf(body.s, taps);
    return indices;
  }

  const WindowAxes axes;
  const SmallVector<int64_t> dims; ///< dimensions of a blob

private:
  Value numberOf(ScalarBuilder &s, ArrayRef<Value> taps) const {
    Value number = taps[0];
    for (size_t i = 1; i < taps.size(); ++i)
      number = s.addi(s.muli(number, axes[i].kernel), taps[i]);
    return number;
  }

  const ArrayRef<int64_t> in, out;
  SmallVector<bool> reduction;
};

int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
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
      positionType(getContext(), product(getKernel()))));
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
  const PoolingWindows windows(*this, shapeOf(getX()), shapeOf(getY()));
  bool needsMask = getMask() && !getMask().use_empty();
  bool needsArgmax = needsMask || !getArgmax().use_empty();
  NestBuilder nest = windows.forwardNest(b, getLoc());
  // Caffe starts at -FLT_MAX in every precision.
  nest.output(tensorTypeOf(getY()), windows.dims, -FLT_MAX);
  if (needsArgmax)
    nest.output(tensorTypeOf(getArgmax()), windows.dims, 0);
  Value x = getX();
  SmallVector<Value> results =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value valid;
        Value element = windows.readTap(body, x, valid);
        Value larger = s.greater(element, body.out[0]);
        if (valid)
          larger = s.both(larger, valid);
        SmallVector<Value> next = {s.select(larger, element, body.out[0])};
        if (needsArgmax) {
          Value tap = arith::IndexCastOp::create(
              s.b, s.loc, body.out[1].getType(), windows.tapNumber(body));
          next.push_back(s.select(larger, tap, body.out[1]));
        }
        return next;
      });
  if (!needsArgmax)
    results.push_back(Value());
  if (getMask())
    results.insert(results.begin() + 1,
                   needsMask
                       ? buildMask(b, *this, windows.axes[0], windows.axes[1],
                                   results[0], results[1])
                       : Value());
  return results;
}

SmallVector<Value> MaxPoolingBackwardOp::buildNests(OpBuilder &b) {
  const PoolingWindows windows(*this, shapeOf(getDx()), shapeOf(getDy()));
  NestBuilder nest = windows.backwardNest(b, getLoc());
  nest.output(tensorTypeOf(getDx()), windows.dims, 0.0);
  Value dy = getDy(), argmax = getArgmax();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid, tap;
    SmallVector<Value> indices = windows.coveringIndices(body, tap, valid);
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

/// Builds the divisor of the window at `out`, in the element type.
static Value buildDivisor(ScalarBuilder &s, ArrayRef<WindowAxis> axes,
                          ValueRange out, Type type) {
  auto windowsAreComplete = [](const WindowAxis &axis) {
    return (axis.out - 1) * axis.stride + axis.kernel <= axis.in + 2 * axis.pad;
  };
  if (llvm::all_of(axes, windowsAreComplete)) {
    int64_t size = 1;
    for (const WindowAxis &axis : axes)
      size *= axis.kernel;
    return s.constant(type, static_cast<double>(size));
  }
  Value size = windowExtent(s, axes[0], out[0]);
  for (size_t i = 1; i < axes.size(); ++i)
    size = arith::MulIOp::create(s.b, s.loc, size,
                                 windowExtent(s, axes[i], out[i]));
  Value integer =
      arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), size);
  return arith::SIToFPOp::create(s.b, s.loc, type, integer);
}

/// Builds the divisor of the element of the top that is computed.
static Value buildDivisor(NestBuilder::Body &body, ArrayRef<WindowAxis> axes) {
  SmallVector<Value> out;
  for (size_t i = 0; i < axes.size(); ++i)
    out.push_back(body.loop(2 + i));
  return buildDivisor(body.s, axes, out, body.in[0].getType());
}

/// Returns whether one window covers the complete input.
static bool coversInput(ArrayRef<WindowAxis> axes) {
  return llvm::all_of(axes, [](const WindowAxis &axis) {
    return axis.out == 1 && axis.kernel >= axis.in + axis.pad;
  });
}

/// Builds the sums of windows that cover complete planes, in memory order.
static Value sumPlanes(OpBuilder &b, Location loc, Value x,
                       RankedTensorType y) {
  ArrayRef<int64_t> in = shapeOf(x);
  const int64_t spatial = in.size() - 2;
  SmallVector<int64_t> extents = {in[0], in[1]}, read = {0, 1};
  extents.append(spatial, 1);
  llvm::append_range(extents, in.drop_front(2));
  SmallVector<bool> reduction(2 + spatial, false);
  reduction.append(spatial, true);
  for (int64_t i = 0; i < spatial; ++i)
    read.push_back(2 + spatial + i);
  NestBuilder nest(b, loc, extents, reduction);
  nest.input(x, read);
  nest.output(y, iota(in.size()), 0.0);
  return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];
}

/// Builds the sums of all windows over elements inside the bottom.
static Value sumWindows(OpBuilder &b, AveragePoolingOp op,
                        const PoolingWindows &windows) {
  NestBuilder nest = windows.forwardNest(b, op.getLoc());
  nest.output(tensorTypeOf(op.getY()), windows.dims, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid;
    Value element = windows.readTap(body, op.getX(), valid);
    if (valid)
      element = s.select(valid, element, s.constant(element.getType(), 0));
    return {s.accumulate(body.out[0], element)};
  })[0];
}

SmallVector<Value> AveragePoolingOp::buildNests(OpBuilder &b) {
  const PoolingWindows windows(*this, shapeOf(getX()), shapeOf(getY()));
  const Value sum = coversInput(windows.axes)
                        ? sumPlanes(b, getLoc(), getX(), tensorTypeOf(getY()))
                        : sumWindows(b, *this, windows);
  NestBuilder mean(b, getLoc(), shapeOf(getY()));
  mean.input(sum, windows.dims);
  mean.output(tensorTypeOf(getY()), windows.dims);
  return mean.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.div(body.in[0], buildDivisor(body, windows.axes))};
  });
}

/// Builds the gradient of windows that cover complete planes: one quotient for
/// all elements of a plane, in memory order.
static Value spreadOverPlanes(OpBuilder &b, AveragePoolingBackwardOp op,
                              const PoolingWindows &windows) {
  const Value dy = op.getDy();
  NestBuilder quotient(b, op.getLoc(), shapeOf(dy));
  quotient.input(dy, windows.dims);
  quotient.output(
      tensorTypeOf(dy).clone(tensorTypeOf(op.getDx()).getElementType()),
      windows.dims);
  const Value quotients =
      quotient.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        return {body.s.div(body.in[0], buildDivisor(body, windows.axes))};
      })[0];
  NestBuilder spread(b, op.getLoc(), shapeOf(op.getDx()));
  SmallVector<AffineExpr> plane = {b.getAffineDimExpr(0),
                                   b.getAffineDimExpr(1)};
  plane.append(windows.axes.size(), b.getAffineConstantExpr(0));
  spread.input(quotients,
               AffineMap::get(windows.dims.size(), 0, plane, b.getContext()));
  spread.output(tensorTypeOf(op.getDx()), windows.dims);
  return spread.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.in[0]};
  })[0];
}

SmallVector<Value> AveragePoolingBackwardOp::buildNests(OpBuilder &b) {
  const PoolingWindows windows(*this, shapeOf(getDx()), shapeOf(getDy()));
  Value dy = getDy();
  if (coversInput(windows.axes))
    return {spreadOverPlanes(b, *this, windows)};
  NestBuilder nest = windows.backwardNest(b, getLoc());
  nest.output(tensorTypeOf(getDx()), windows.dims, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid, tap;
    SmallVector<Value> indices = windows.coveringIndices(body, tap, valid);
    Value gradient = body.read(dy, indices);
    gradient = s.div(gradient, buildDivisor(s, windows.axes,
                                            ValueRange(indices).drop_front(2),
                                            gradient.getType()));
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
