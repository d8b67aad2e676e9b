//===- Interp.cpp - Resizing ----------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/shape/Resample.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <climits>
#include <cmath>

using namespace mlir;
using namespace brew::dialects;

LogicalResult InterpOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y(shapeOf(getX()));
  if (y.size() != 4)
    return layerError(*this) << "the bottom must have 4 dimensions (N, C, H, "
                                "W), not "
                             << y.size();
  int64_t zoom = getZoom(), shrink = getShrink();
  int64_t crop = getPadBeg() + getPadEnd();
  if (getReference() && shapeOf(getReference()).size() != 4)
    return layerError(*this) << "the second bottom, which gives the size, must "
                                "have 4 dimensions (N, C, H, W), not "
                             << shapeOf(getReference()).size();
  for (int i : {0, 1}) {
    int64_t in = y[2 + i] + crop;
    if (in < 1)
      return layerError(*this)
             << "pad_beg and pad_end leave nothing of the bottom's "
             << (i ? "width " : "height ") << y[2 + i];
    int64_t out = (in - 1) / shrink + 1;
    y[2 + i] = getReference()      ? shapeOf(getReference())[2 + i]
               : getSize().empty() ? out + (out - 1) * (zoom - 1)
                                   : getSize()[i];
  }
  tops.push_back(y);
  return success();
}

/// Only the plane of the reference is read.
LogicalResult InterpOp::propagateItemCounts(ItemCounts &counts) {
  if (getReference() &&
      failed(counts.requireStaticExtents(*this, getReference(), 2)))
    return failure();
  return counts.propagate(*this, getX());
}

namespace {
/// The rows or the columns of a resizing. Position i of the result reads the
/// cropped position (i + before) * ratio + after.
struct Axis {
  int64_t dim;  ///< dimension of x and the result
  int64_t crop; ///< cropped at the start of x
  int64_t in;   ///< extent after cropping
  int64_t out;
  bool alignCorners = true, singleReadsFirst = false;
  bool zeroOutside = false, nearest = false;
  float before = 0, after = 0;

  /// The rows (i = 0) or the columns (i = 1) of an InterpOp.
  Axis(ArrayRef<int64_t> x, ArrayRef<int64_t> y, int i, int64_t padBeg,
       int64_t padEnd)
      : dim(2 + i), crop(-padBeg), in(x[dim] + padBeg + padEnd), out(y[dim]) {}
  /// The same of a ResizeOp or ResizeBackwardOp.
  template <typename Op>
  Axis(Op op, ArrayRef<int64_t> x, ArrayRef<int64_t> y, int i)
      : dim(op.getAxis() + i), crop(0), in(x[dim]), out(y[dim]),
        alignCorners(op.getAlignCorners()),
        singleReadsFirst(op.getSingleReadsFirst()),
        zeroOutside(op.getZeroOutside()), nearest(op.getNearest()),
        before(op.getBefore().convertToFloat()),
        after(op.getAfter().convertToFloat()) {}

  // The ratio is the quotient of these numbers.
  int64_t numerator() const { return alignCorners ? in - 1 : in; }
  int64_t denominator() const { return alignCorners ? out - 1 : out; }
  /// Returns the number of cropped positions per position of the result,
  /// rounded like in Caffe's forks.
  float ratio() const {
    if (out == 1 && (alignCorners || singleReadsFirst))
      return 0;
    return static_cast<float>(numerator()) / denominator();
  }
  /// `before` and `after` move the positions that read an element by at most
  /// half an element.
  int64_t shiftInHalves() const { return before != 0 || after != 0 ? 1 : 0; }
  /// Return the size and the start of the range of positions of the result
  /// that may be computed from cropped position `i`. The range includes a
  /// margin for rounding.
  int64_t window() const {
    return numerator() > 0 ? std::min(out, (2 + shiftInHalves()) *
                                                   denominator() / numerator() +
                                               4)
                           : out;
  }
  Value windowStart(ScalarBuilder &s, Value i) const {
    if (numerator() == 0)
      return s.index(0);
    // Twice the first position of x that contributes to the same positions.
    Value twice =
        s.subi(s.muli(s.clamp(i, in), 2), s.index(2 + shiftInHalves()));
    Value start =
        s.divi(s.muli(arith::MaxSIOp::create(s.b, s.loc, twice, s.index(0)),
                      denominator()),
               2 * numerator());
    return s.clamp(s.subi(start, s.index(1)), out - window() + 1);
  }
};

/// The two neighbours from which a position of the result is computed, and
/// their weights.
struct Neighbours {
  Value first, second; ///< cropped positions
  Value weight1, weight2;

  Neighbours(ScalarBuilder &s, const Axis &axis, Value position, Type type) {
    Type f32 = s.b.getF32Type(), integer = s.b.getI32Type();
    // Single precision without contraction, so that forward and backward pass
    // round to the same neighbours.
    Value number = arith::SIToFPOp::create(
        s.b, s.loc, f32,
        arith::IndexCastOp::create(s.b, s.loc, integer, position));
    auto shift = [&](Value x, float distance) -> Value {
      return distance == 0 ? x
                           : arith::AddFOp::create(s.b, s.loc, x,
                                                   s.constant(f32, distance));
    };
    Value source =
        shift(arith::MulFOp::create(s.b, s.loc, shift(number, axis.before),
                                    s.constant(f32, axis.ratio())),
              axis.after);
    Value below = axis.after < 0 // the source may be negative
                      ? math::FloorOp::create(s.b, s.loc, source)
                      : source;
    Value integerPart = arith::FPToSIOp::create(s.b, s.loc, integer, below);
    Value index =
        arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integerPart);
    first = s.clamp(index, axis.in);
    if (axis.nearest) {
      second = first;
      weight1 = s.constant(type, 1);
      weight2 = s.constant(type, 0);
      return;
    }
    Value fraction = arith::SubFOp::create(
        s.b, s.loc, source,
        arith::SIToFPOp::create(s.b, s.loc, f32, integerPart));
    if (type != f32)
      fraction = arith::ExtFOp::create(s.b, s.loc, type, fraction);
    Value next = s.addi(index, s.index(1));
    second = s.clamp(next, axis.in);
    weight1 = s.sub(s.constant(type, 1), fraction);
    weight2 = axis.zeroOutside ? s.select(s.less(next, s.index(axis.in)),
                                          fraction, s.constant(type, 0))
                               : fraction;
  }

  /// Builds the weight of the cropped position `i`.
  Value weightOf(ScalarBuilder &s, Value i) const {
    Value zero = s.constant(weight1.getType(), 0);
    return s.add(s.select(s.equali(first, i), weight1, zero),
                 s.select(s.equali(second, i), weight2, zero));
  }
};
} // namespace

/// Builds the resized x.
static Value buildResized(OpBuilder &b, Location loc, Value x, const Axis &rows,
                          const Axis &columns, RankedTensorType type) {
  NestBuilder nest(b, loc, type.getShape());
  nest.output(type, iota(4));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    Neighbours row(s, rows, body.loop(rows.dim), element);
    Neighbours column(s, columns, body.loop(columns.dim), element);
    auto read = [&](Value i, Value j) {
      SmallVector<Value> indices;
      for (int64_t dim : iota(4))
        indices.push_back(body.loop(dim));
      indices[rows.dim] = s.addi(i, s.index(rows.crop));
      indices[columns.dim] = s.addi(j, s.index(columns.crop));
      return body.read(x, indices);
    };
    if (rows.nearest)
      return {read(row.first, column.first)};
    auto interpolateRow = [&](Value i) {
      return s.add(s.mul(column.weight1, read(i, column.first)),
                   s.mul(column.weight2, read(i, column.second)));
    };
    return {s.add(s.mul(row.weight1, interpolateRow(row.first)),
                  s.mul(row.weight2, interpolateRow(row.second)))};
  })[0];
}

/// Builds the gradient of x from that of the resized x.
static Value buildResizedGradient(OpBuilder &b, Location loc, Value dy,
                                  const Axis &rows, const Axis &columns,
                                  RankedTensorType type) {
  SmallVector<int64_t> extents(type.getShape());
  extents.append({rows.window(), columns.window()});
  NestBuilder nest(b, loc, extents, {false, false, false, false, true, true});
  nest.output(type, iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    // Returns a position of the result and its weight. Outside of the cropped
    // range, both neighbours differ from the position, so that the weight is 0.
    auto positionAndWeight = [&](const Axis &axis, Value shift) {
      Value cropped = s.subi(body.loop(axis.dim), s.index(axis.crop));
      Value result = s.addi(axis.windowStart(s, cropped), shift);
      Neighbours neighbours(s, axis, result, element);
      return std::pair(result, neighbours.weightOf(s, cropped));
    };
    auto [i, rowWeight] = positionAndWeight(rows, body.loop(4));
    auto [j, columnWeight] = positionAndWeight(columns, body.loop(5));
    SmallVector<Value> indices;
    for (int64_t dim : iota(4))
      indices.push_back(body.loop(dim));
    indices[rows.dim] = i;
    indices[columns.dim] = j;
    Value gradient = body.read(dy, indices);
    return {s.accumulate(body.out[0],
                         s.mul(gradient, s.mul(rowWeight, columnWeight)))};
  })[0];
}

SmallVector<Value> InterpOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  ArrayRef<int64_t> x = shapeOf(getX()), y = type.getShape();
  return {buildResized(b, getLoc(), getX(),
                       Axis(x, y, 0, getPadBeg(), getPadEnd()),
                       Axis(x, y, 1, getPadBeg(), getPadEnd()), type)};
}

LogicalResult
InterpOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                         ArrayRef<bool> needed,
                         MutableArrayRef<Value> operandGradients) {
  // Only the size of the reference is read.
  if (needed[0])
    operandGradients[0] = InterpBackwardOp::create(
        b, getLoc(), getX().getType(), resultGradients[0], getLayerAttr(),
        getPadBegAttr(), getPadEndAttr());
  return success();
}

SmallVector<Value> InterpBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  ArrayRef<int64_t> x = type.getShape(), y = shapeOf(getDy());
  return {buildResizedGradient(b, getLoc(), getDy(),
                               Axis(x, y, 0, getPadBeg(), getPadEnd()),
                               Axis(x, y, 1, getPadBeg(), getPadEnd()), type)};
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

LogicalResult ResizeOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y(shapeOf(getX()));
  if (y.size() != 4)
    return layerError(*this)
           << "the bottom must have 4 dimensions, not " << y.size();
  for (int i : {0, 1}) {
    int64_t &extent = y[getAxis() + i];
    if (getSize()[i] > 0) {
      extent = getSize()[i];
      continue;
    }
    // In single precision, as in the forks.
    const float scaled = std::floor(static_cast<float>(extent) * getScale()[i]);
    extent = scaled < static_cast<float>(INT_MAX) ? static_cast<int64_t>(scaled)
                                                  : INT_MAX;
  }
  tops.push_back(y);
  return success();
}

LogicalResult
ResizeOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                         ArrayRef<bool>,
                         MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = ResizeBackwardOp::create(
      b, getLoc(), getX().getType(), resultGradients[0], getLayerAttr(),
      getAxisAttr(), getAlignCornersAttr(), getBeforeAttr(), getAfterAttr(),
      getSingleReadsFirstAttr(), getZeroOutsideAttr(), getNearestAttr());
  return success();
}

SmallVector<Value> ResizeOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  ArrayRef<int64_t> x = shapeOf(getX()), y = type.getShape();
  return {buildResized(b, getLoc(), getX(), Axis(*this, x, y, 0),
                       Axis(*this, x, y, 1), type)};
}

SmallVector<Value> ResizeBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  ArrayRef<int64_t> x = type.getShape(), y = shapeOf(getDy());
  return {buildResizedGradient(b, getLoc(), getDy(), Axis(*this, x, y, 0),
                               Axis(*this, x, y, 1), type)};
}
