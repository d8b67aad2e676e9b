//===- Interp.cpp - Bilinear resizing -------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/shape/Resample.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
/// The rows or the columns of a resizing.
struct Axis {
  int64_t full; ///< extent of x
  int64_t crop; ///< cropped at the start of x
  int64_t in;   ///< extent after cropping
  int64_t out;

  Axis(ArrayRef<int64_t> x, ArrayRef<int64_t> y, int i, int64_t padBeg,
       int64_t padEnd)
      : full(x[2 + i]), crop(-padBeg), in(x[2 + i] + padBeg + padEnd),
        out(y[2 + i]) {}

  /// Returns the number of cropped positions per position of the result,
  /// rounded like in Caffe's forks.
  float ratio() const {
    return out > 1 ? static_cast<float>(in - 1) / (out - 1) : 0;
  }
  /// Return the size and the start of the range of positions of the result
  /// that may be interpolated from cropped position `i`. The range includes a
  /// margin for rounding.
  int64_t window() const {
    return in > 1 ? std::min(out, 2 * (out - 1) / (in - 1) + 4) : out;
  }
  Value windowStart(ScalarBuilder &s, Value i) const {
    if (in == 1)
      return s.index(0);
    Value previous = s.subi(s.clamp(i, in), s.index(1));
    Value start =
        s.divi(s.muli(arith::MaxSIOp::create(s.b, s.loc, previous, s.index(0)),
                      out - 1),
               in - 1);
    return s.clamp(s.subi(start, s.index(1)), out - window() + 1);
  }
};

/// The two neighbours from which a position of the result is interpolated, and
/// their weights.
struct Neighbours {
  Value first, second; ///< cropped positions
  Value weight1, weight2;

  Neighbours(ScalarBuilder &s, const Axis &axis, Value position, Type type) {
    Type f32 = s.b.getF32Type(), integer = s.b.getI32Type();
    auto indexOf = [&](Value x) -> Value {
      return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), x);
    };
    // Single precision without contraction, so that forward and backward pass
    // round to the same neighbours.
    Value number = arith::SIToFPOp::create(
        s.b, s.loc, f32,
        arith::IndexCastOp::create(s.b, s.loc, integer, position));
    Value source = arith::MulFOp::create(s.b, s.loc, number,
                                         s.constant(f32, axis.ratio()));
    Value integerPart = arith::FPToSIOp::create(s.b, s.loc, integer, source);
    Value fraction = arith::SubFOp::create(
        s.b, s.loc, source,
        arith::SIToFPOp::create(s.b, s.loc, f32, integerPart));
    if (type != f32)
      fraction = arith::ExtFOp::create(s.b, s.loc, type, fraction);
    first = s.clamp(indexOf(integerPart), axis.in);
    second = s.clamp(s.addi(first, s.index(1)), axis.in);
    weight2 = fraction;
    weight1 = s.sub(s.constant(type, 1), fraction);
  }

  /// Builds the weight of the cropped position `i`.
  Value weightOf(ScalarBuilder &s, Value i) const {
    Value zero = s.constant(weight1.getType(), 0);
    return s.add(s.select(s.equali(first, i), weight1, zero),
                 s.select(s.equali(second, i), weight2, zero));
  }
};
} // namespace

SmallVector<Value> InterpOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  Axis rows(shapeOf(getX()), type.getShape(), 0, getPadBeg(), getPadEnd());
  Axis columns(shapeOf(getX()), type.getShape(), 1, getPadBeg(), getPadEnd());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.output(type, iota(4));
  Value x = getX();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    Neighbours row(s, rows, body.loop(2), element);
    Neighbours column(s, columns, body.loop(3), element);
    auto read = [&](Value i, Value j) {
      return body.read(x, {body.loop(0), body.loop(1),
                           s.addi(i, s.index(rows.crop)),
                           s.addi(j, s.index(columns.crop))});
    };
    auto interpolateRow = [&](Value i) {
      return s.add(s.mul(column.weight1, read(i, column.first)),
                   s.mul(column.weight2, read(i, column.second)));
    };
    return {s.add(s.mul(row.weight1, interpolateRow(row.first)),
                  s.mul(row.weight2, interpolateRow(row.second)))};
  });
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
  ArrayRef<int64_t> in = type.getShape(), out = shapeOf(getDy());
  Axis rows(in, out, 0, getPadBeg(), getPadEnd());
  Axis columns(in, out, 1, getPadBeg(), getPadEnd());
  SmallVector<int64_t> extents(in);
  extents.append({rows.window(), columns.window()});
  NestBuilder nest(b, getLoc(), extents,
                   {false, false, false, false, true, true});
  nest.output(type, iota(4), 0.0);
  Value dy = getDy();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    // Returns a position of the result and its weight. Outside of the cropped
    // range, both neighbours differ from the position, so that the weight is 0.
    auto positionAndWeight = [&](const Axis &axis, Value position,
                                 Value shift) {
      Value cropped = s.subi(position, s.index(axis.crop));
      Value result = s.addi(axis.windowStart(s, cropped), shift);
      Neighbours neighbours(s, axis, result, element);
      return std::pair(result, neighbours.weightOf(s, cropped));
    };
    auto [i, rowWeight] = positionAndWeight(rows, body.loop(2), body.loop(4));
    auto [j, columnWeight] =
        positionAndWeight(columns, body.loop(3), body.loop(5));
    Value gradient = body.read(dy, {body.loop(0), body.loop(1), i, j});
    return {s.accumulate(body.out[0],
                         s.mul(gradient, s.mul(rowWeight, columnWeight)))};
  });
}
