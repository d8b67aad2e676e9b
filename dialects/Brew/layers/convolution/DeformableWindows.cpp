//===- DeformableWindows.cpp - MovedWindows with moved taps
//--------------------===//
//
// Nests first compute the position of each tap, which all channels of a group
// share. The gradient of the bottom gathers: each element iterates over all
// taps, because any tap may be next to it.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/ConvolutionShapes.h"
#include "dialects/Brew/layers/detection/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The extents of the windows. The tensor of the taps has dimensions n, c, and
/// two dimensions in which the taps of a window are side by side.
struct MovedWindows {
  int64_t n, channels, groups;
  WindowAxis rows, columns;

  template <typename Op>
  MovedWindows(Op op, ArrayRef<int64_t> x, ArrayRef<int64_t> taps)
      : n(x[0]), channels(x[1]), groups(op.getOffsetGroups()),
        rows(axisOf(op, 0, x, taps)), columns(axisOf(op, 1, x, taps)) {}

  int64_t perGroup() const { return channels / groups; }

private:
  template <typename Op>
  static WindowAxis axisOf(Op op, size_t i, ArrayRef<int64_t> x,
                           ArrayRef<int64_t> taps) {
    return {x[2 + i],          taps[2 + i] / op.getKernel()[i],
            op.getKernel()[i], op.getStride()[i],
            op.getPad()[i],    op.getDilation()[i]};
  }
};

/// The positions of taps, clamped to the plane. Shape: n, groups, and the two
/// dimensions of the taps. The row of a tap outside of the plane is -1.
struct TapTables {
  Value rows, columns;
};

/// An interpolated point: the four positions around it.
struct TapCorners {
  Value low[2], high[2]; ///< row and column
  Value fraction[2];     ///< weight of `high`
  Value isInside;
};

} // namespace

static Value tapIndex(ScalarBuilder &s, Value number) {
  Value integer = arith::FPToSIOp::create(s.b, s.loc, s.b.getI32Type(), number);
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
}

static TapTables buildTapTables(OpBuilder &b, Location loc,
                                const MovedWindows &w, Value offsets) {
  Type type = elementTypeOf(offsets);
  const SmallVector<int64_t> shape = {w.n, w.groups, w.rows.out * w.rows.kernel,
                                      w.columns.out * w.columns.kernel};
  NestBuilder nest(b, loc, shape);
  for (int i = 0; i < 2; ++i)
    nest.output(RankedTensorType::get(shape, type), iota(4));
  SmallVector<Value> tables =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value row = s.remi(body.loop(2), w.rows.kernel);
        Value column = s.remi(body.loop(3), w.columns.kernel);
        Value p = s.divi(body.loop(2), w.rows.kernel);
        Value q = s.divi(body.loop(3), w.columns.kernel);
        Value tap =
            s.addi(s.muli(s.addi(s.muli(body.loop(1), w.rows.kernel), row),
                          w.columns.kernel),
                   column);
        Value isInside;
        auto positionOf = [&](const WindowAxis &axis, Value window,
                              Value tapIndex, int64_t field) {
          Value offset = body.read(
              offsets,
              {body.loop(0), s.addi(s.muli(tap, 2), s.index(field)), p, q});
          Value start = s.addi(s.muli(window, axis.stride),
                               s.muli(tapIndex, axis.dilation));
          Value position =
              s.add(s.sub(asNumber(s, start, type), s.constant(type, axis.pad)),
                    offset);
          isInside =
              andIfAny(s, isInside,
                       s.both(s.greaterEqual(position, s.constant(type, 0)),
                              s.greater(s.constant(type, axis.in), position)));
          return clampNumber(s, position, axis.in - 1);
        };
        Value y = positionOf(w.rows, p, row, 0);
        Value x = positionOf(w.columns, q, column, 1);
        return {s.select(isInside, y, s.constant(type, -1)), x};
      });
  return {tables[0], tables[1]};
}

/// Builds the corners around a tap from its position.
static TapCorners cornersAround(ScalarBuilder &s, const MovedWindows &w,
                                Value row, Value column) {
  TapCorners corners;
  Type type = row.getType();
  corners.isInside = s.greaterEqual(row, s.constant(type, 0));
  const Value positions[] = {row, column};
  const int64_t extents[] = {w.rows.in, w.columns.in};
  for (int i = 0; i < 2; ++i) {
    Value low = floorOf(s, clampNumber(s, positions[i], extents[i] - 1));
    corners.low[i] = s.clamp(tapIndex(s, low), extents[i]);
    corners.high[i] = s.clamp(s.addi(corners.low[i], s.index(1)), extents[i]);
    corners.fraction[i] = s.sub(positions[i], low);
  }
  return corners;
}

/// Builds (1 - weight) * x + weight * y.
static Value interpolated(ScalarBuilder &s, Value x, Value y, Value weight) {
  return s.add(x, s.mul(weight, s.sub(y, x)));
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

bool DeformableWindowsOp::mustStayExact(unsigned operand) {
  return operand == getOffsetsMutable().getOperandNumber();
}

LogicalResult DeformableWindowsOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX()), offsets = shapeOf(getOffsets());
  if (x.size() != 4)
    return layerError(*this)
           << "takes images (N, C, H, W), not " << dimsText(x);
  if (failed(resolveWindow(*this)))
    return failure();
  const int64_t groups = getOffsetGroups(), channels = x[1];
  if (channels % groups)
    return layerError(*this)
           << "the bottom has " << channels
           << " channels, not a multiple of deformable_group " << groups;
  FailureOr<SmallVector<int64_t>> windows = convolvedShape(*this, channels);
  if (failed(windows))
    return failure();
  const SmallVector<int64_t> expected = {
      x[0], 2 * groups * countOf(getKernel()), (*windows)[2], (*windows)[3]};
  if (offsets != ArrayRef(expected))
    return layerError(*this)
           << "takes offsets of shape " << dimsText(expected) << ", not "
           << dimsText(offsets)
           << ": two for each tap and deformable_group at each position of the "
              "top";
  tops.push_back({x[0], channels, expected[2] * getKernel()[0],
                  expected[3] * getKernel()[1]});
  return success();
}

LogicalResult DeformableWindowsOp::buildGradients(
    OpBuilder &b, ArrayRef<Value> resultGradients, ArrayRef<bool> needed,
    MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  if (needed[0])
    operandGradients[0] = DeformableWindowsBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getOffsets(), getLayerAttr(),
        getKernelAttr(), getStrideAttr(), getPadAttr(), getDilationAttr(),
        getOffsetGroupsAttr());
  if (needed[1])
    operandGradients[1] = DeformableWindowsBackwardOffsetsOp::create(
        b, getLoc(), getOffsets().getType(), dy, getX(), getOffsets(),
        getLayerAttr(), getKernelAttr(), getStrideAttr(), getPadAttr(),
        getDilationAttr(), getOffsetGroupsAttr());
  return success();
}

SmallVector<Value> DeformableWindowsOp::buildNests(OpBuilder &b) {
  const MovedWindows w(*this, shapeOf(getX()), shapeOf(getY()));
  const TapTables taps = buildTapTables(b, getLoc(), w, getOffsets());
  NestBuilder nest(b, getLoc(), shapeOf(getY()));
  nest.output(tensorTypeOf(getY()), iota(4));
  Value x = getX();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value n = body.loop(0), c = body.loop(1);
    const SmallVector<Value> tap = {n, s.divi(c, w.perGroup()), body.loop(2),
                                    body.loop(3)};
    const TapCorners at = cornersAround(s, w, body.read(taps.rows, tap),
                                        body.read(taps.columns, tap));
    auto inRow = [&](Value row) {
      return interpolated(s, body.read(x, {n, c, row, at.low[1]}),
                          body.read(x, {n, c, row, at.high[1]}),
                          at.fraction[1]);
    };
    Value value =
        interpolated(s, inRow(at.low[0]), inRow(at.high[0]), at.fraction[0]);
    return {orZero(s, at.isInside, value)};
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

bool DeformableWindowsBackwardOp::mustStayExact(unsigned operand) {
  return operand == getOffsetsMutable().getOperandNumber();
}

SmallVector<Value> DeformableWindowsBackwardOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  const MovedWindows w(*this, in, out);
  const TapTables taps = buildTapTables(b, getLoc(), w, getOffsets());
  // Loops: n c h w | tap rows, tap columns
  NestBuilder nest(b, getLoc(), {in[0], in[1], in[2], in[3], out[2], out[3]},
                   {false, false, false, false, true, true});
  nest.input(getDy(), {0, 1, 4, 5});
  nest.output(tensorTypeOf(getDx()), iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    const SmallVector<Value> tap = {body.loop(0),
                                    s.divi(body.loop(1), w.perGroup()),
                                    body.loop(4), body.loop(5)};
    auto weight = [&](Value table, Value position) -> Value {
      Value tapPosition = body.read(table, tap);
      Type type = tapPosition.getType();
      Value distance = math::AbsFOp::create(
          s.b, s.loc, s.sub(tapPosition, asNumber(s, position, type)));
      return s.maximum(s.sub(s.constant(type, 1), distance),
                       s.constant(type, 0));
    };
    Value share = s.mul(weight(taps.rows, body.loop(2)),
                        weight(taps.columns, body.loop(3)));
    return {s.accumulate(body.out[0], s.mul(share, body.in[0]))};
  });
}

bool DeformableWindowsBackwardOffsetsOp::mustStayExact(unsigned operand) {
  return operand == getOffsetsMutable().getOperandNumber();
}

SmallVector<Value>
DeformableWindowsBackwardOffsetsOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> offsets = shapeOf(getDx());
  const MovedWindows w(*this, shapeOf(getX()), shapeOf(getDy()));
  const TapTables taps = buildTapTables(b, getLoc(), w, getOffsets());
  // Loops: n, channel of the offsets, p q | channels of the group
  NestBuilder nest(
      b, getLoc(),
      {offsets[0], offsets[1], offsets[2], offsets[3], w.perGroup()},
      {false, false, false, false, true});
  nest.output(tensorTypeOf(getDx()), iota(4), 0.0);
  Value x = getX(), dy = getDy();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value n = body.loop(0);
    Value isColumn = s.equali(s.remi(body.loop(1), 2), s.index(1));
    Value number = s.divi(body.loop(1), 2);
    Value group = s.divi(number, w.rows.kernel * w.columns.kernel);
    Value tap = s.remi(number, w.rows.kernel * w.columns.kernel);
    Value tapRow = s.addi(s.muli(body.loop(2), w.rows.kernel),
                          s.divi(tap, w.columns.kernel));
    Value tapColumn = s.addi(s.muli(body.loop(3), w.columns.kernel),
                             s.remi(tap, w.columns.kernel));
    const TapCorners at =
        cornersAround(s, w, body.read(taps.rows, {n, group, tapRow, tapColumn}),
                      body.read(taps.columns, {n, group, tapRow, tapColumn}));
    Value c = s.addi(s.muli(group, w.perGroup()), body.loop(4));
    auto element = [&](Value row, Value column) {
      return body.read(x, {n, c, row, column});
    };
    Value topLeft = element(at.low[0], at.low[1]),
          topRight = element(at.low[0], at.high[1]),
          bottomLeft = element(at.high[0], at.low[1]),
          bottomRight = element(at.high[0], at.high[1]);
    Value byRow = interpolated(s, s.sub(bottomLeft, topLeft),
                               s.sub(bottomRight, topRight), at.fraction[1]);
    Value byColumn =
        interpolated(s, s.sub(topRight, topLeft),
                     s.sub(bottomRight, bottomLeft), at.fraction[0]);
    Value slope = orZero(s, at.isInside, s.select(isColumn, byColumn, byRow));
    Value gradient = body.read(dy, {n, c, tapRow, tapColumn});
    return {s.accumulate(body.out[0], s.mul(slope, gradient))};
  });
}
