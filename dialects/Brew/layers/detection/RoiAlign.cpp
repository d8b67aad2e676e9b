//===- RoiAlign.cpp - Features interpolated at points of regions ----------===//
//
// A point between positions is interpolated from the four positions around it,
// with weights that are a product of one weight per dimension. So for each
// dimension, each region and each of its cells, there is a table of weights by
// position of the plane, from which gradients gather. The forward pass reads
// only the positions around points if the number of points is fixed, and
// iterates over the tables if it depends on the regions.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/detection/Detection.h"
#include "dialects/Brew/layers/detection/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The settings of the regions, for both passes.
struct Alignment {
  Value rois;
  double scale, padRatio;
  int64_t samples; ///< points of a cell per dimension; 0: one for each
                   ///< position that the cell spans
  bool corners, unitSteps;
};

template <typename Op> Alignment alignmentOf(Op op) {
  return {op.getRois(),
          op.getSpatialScale().convertToFloat(),
          op.getPadRatio().convertToFloat(),
          static_cast<int64_t>(op.getSamples()),
          op.getCorners(),
          op.getUnitSteps()};
}

/// One dimension of the regions.
struct Axis {
  int64_t field;  ///< field of a region's start; the end is `field` + 2
  int64_t cells;  ///< cells of a region
  int64_t extent; ///< extent of the plane

  /// Returns the number of elements of the result.
  int64_t results(const Alignment &a) const { return cells + a.corners; }
};

/// A region along one dimension, in positions of the plane.
struct Span {
  Value start, step; ///< of the first cell; a cell's extent
  Value isValid;     ///< null if always true
};

/// A point of a cell.
struct Point {
  Value position; ///< clamped to [0, extent - 1]
  Value isValid;  ///< whether it is close enough to the plane to count
};

} // namespace

static Span spanOf(NestBuilder::Body &body, const Alignment &a,
                   const Axis &axis, Value roi) {
  ScalarBuilder &s = body.s;
  Type type = elementTypeOf(a.rois);
  Value low = regionField(body, a.rois, roi, axis.field);
  Value high = regionField(body, a.rois, roi, axis.field + 2);
  if (a.padRatio != 0) {
    Value pixels = s.add(s.sub(high, low), s.constant(type, 1));
    Value pad = s.mul(pixels, s.constant(type, a.padRatio));
    low = s.sub(low, pad);
    high = s.add(high, pad);
  }
  Value scale = s.constant(type, a.scale);
  Value start = s.mul(low, scale), end = s.mul(high, scale);
  Value cells = s.constant(type, axis.cells);
  Value size = s.sub(end, start);
  if (a.unitSteps)
    size = s.add(size, s.constant(type, 1));
  if (!a.corners) {
    size = s.maximum(size, s.constant(type, 1));
    return {start, s.div(size, cells), Value()};
  }
  return {s.sub(start, s.constant(type, 0.5)), s.div(size, cells),
          s.greater(size, s.constant(type, 0))};
}

/// Builds the number of points of a cell in one dimension, as a floating-point
/// number.
static Value pointCount(ScalarBuilder &s, const Alignment &a,
                        const Span &span) {
  Type type = elementTypeOf(a.rois);
  if (a.samples > 0)
    return s.constant(type, a.samples);
  return s.maximum(ceilOf(s, span.step), s.constant(type, 1));
}

/// Builds point `index` of `count` in cell `cell` (floating-point numbers).
static Point pointOf(ScalarBuilder &s, const Alignment &a, const Axis &axis,
                     const Span &span, Value cell, Value index, Value count) {
  Type type = elementTypeOf(a.rois);
  Value half = s.constant(type, 0.5);
  Value cellOffset =
      a.corners ? cell : s.add(cell, s.div(s.add(index, half), count));
  Value position = s.add(span.start, s.mul(cellOffset, span.step));
  const double margin = a.corners ? 0.5 : 1;
  const double last = axis.extent - 1;
  Value isValid =
      s.both(s.greaterEqual(position, s.constant(type, -margin)),
             s.greaterEqual(s.constant(type, last + margin), position));
  if (span.isValid)
    isValid = s.both(isValid, span.isValid);
  return {clampNumber(s, position, last), isValid};
}

/// Builds the table of the weights of positions for points at unit steps from
/// the start of each cell: regions, results, extent.
static Value buildUnitStepWeights(OpBuilder &b, Location loc,
                                  const Alignment &a, const Axis &axis) {
  // At most two points are less than one position away; rounding may add one
  // at each end.
  constexpr int64_t kMaxNearPoints = 4;
  Type type = elementTypeOf(a.rois);
  const SmallVector<int64_t> shape = {shapeOf(a.rois)[0], axis.cells,
                                      axis.extent};
  // Loops: r i h | s
  NestBuilder nest(b, loc, {shape[0], shape[1], shape[2], kMaxNearPoints},
                   {false, false, false, true});
  nest.output(RankedTensorType::get(shape, type), {0, 1, 2}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value zero = s.constant(type, 0), one = s.constant(type, 1);
    Span span = spanOf(body, a, axis, body.loop(0));
    auto cellStart = [&](Value cell) {
      return clampNumber(s, s.add(s.mul(cell, span.step), span.start),
                         axis.extent);
    };
    Value cell = asNumber(s, body.loop(1), type);
    Value start = cellStart(cell), end = cellStart(s.add(cell, one));
    Value count = ceilOf(s, s.sub(end, start));
    Value position = asNumber(s, body.loop(2), type);
    // Start at the last point that is at least one position before this one.
    Value first = floorOf(s, s.sub(s.sub(position, one), start));
    Value index =
        s.add(s.maximum(first, zero), asNumber(s, body.loop(3), type));
    Value point = clampNumber(s, s.add(start, index), axis.extent - 1);
    Value distance = math::AbsFOp::create(s.b, s.loc, s.sub(point, position));
    Value weight = s.div(s.maximum(s.sub(one, distance), zero), count);
    return {s.accumulate(body.out[0],
                         s.select(s.greater(count, index), weight, zero))};
  })[0];
}

/// Builds the table of the weights of positions: regions, results, extent.
static Value buildWeights(OpBuilder &b, Location loc, const Alignment &a,
                          const Axis &axis) {
  if (a.unitSteps)
    return buildUnitStepWeights(b, loc, a, axis);
  // If a cell has as many points as positions, they are more than half a
  // position apart, unless there is only one. So at most five points are less
  // than one position away from a position; rounding may add one.
  constexpr int64_t kMaxNearPoints = 6;
  const int64_t regions = shapeOf(a.rois)[0];
  const int64_t pointsPerCell = a.corners       ? 1
                                : a.samples > 0 ? a.samples
                                                : kMaxNearPoints;
  Type type = elementTypeOf(a.rois);
  auto table =
      RankedTensorType::get({regions, axis.results(a), axis.extent}, type);
  // Loops: r i h | s
  NestBuilder nest(b, loc,
                   {regions, axis.results(a), axis.extent, pointsPerCell},
                   {false, false, false, true});
  nest.output(table, {0, 1, 2}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value zero = s.constant(type, 0), one = s.constant(type, 1);
    Span span = spanOf(body, a, axis, body.loop(0));
    Value cell = asNumber(s, body.loop(1), type);
    Value position = asNumber(s, body.loop(2), type);
    Value index = asNumber(s, body.loop(3), type);
    Value count = pointCount(s, a, span);
    Value exists;
    if (!a.corners && a.samples <= 0) {
      // Start at the first point less than one position before this position.
      Value start = s.add(span.start, s.mul(cell, span.step));
      Value spacing = s.div(span.step, count);
      Value fromStart = s.sub(s.sub(position, one), start);
      Value first = s.sub(s.div(fromStart, spacing), s.constant(type, 0.5));
      index = s.add(index, s.maximum(floorOf(s, first), zero));
      exists = s.greater(count, index);
    }
    Point point = pointOf(s, a, axis, span, cell, index, count);
    Value distance =
        math::AbsFOp::create(s.b, s.loc, s.sub(point.position, position));
    Value weight = s.maximum(s.sub(one, distance), zero);
    if (!a.corners)
      weight = s.div(weight, count);
    Value isCounted = exists ? s.both(exists, point.isValid) : point.isValid;
    return {s.accumulate(body.out[0], s.select(isCounted, weight, zero))};
  })[0];
}

namespace {
/// The positions around points, two per point, and their weights. Shape:
/// regions, results, positions.
struct Taps {
  Value positions, weights;
  int64_t count;
};
} // namespace

static Taps buildTaps(OpBuilder &b, Location loc, const Alignment &a,
                      const Axis &axis) {
  const int64_t regions = shapeOf(a.rois)[0];
  const int64_t count = 2 * (a.corners ? 1 : a.samples);
  Type type = elementTypeOf(a.rois), i32 = b.getI32Type();
  const SmallVector<int64_t> shape = {regions, axis.results(a), count};
  NestBuilder nest(b, loc, shape);
  nest.output(RankedTensorType::get(shape, i32), iota(3));
  nest.output(RankedTensorType::get(shape, type), iota(3));
  SmallVector<Value> tables =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Span span = spanOf(body, a, axis, body.loop(0));
        Value points = pointCount(s, a, span);
        Point point =
            pointOf(s, a, axis, span, asNumber(s, body.loop(1), type),
                    asNumber(s, s.divi(body.loop(2), 2), type), points);
        Value side = s.remi(body.loop(2), 2);
        Value low = floorOf(s, point.position);
        Value fraction = s.sub(point.position, low);
        Value weight = s.select(s.equali(side, s.index(0)),
                                s.sub(s.constant(type, 1), fraction), fraction);
        if (!a.corners)
          weight = s.div(weight, points);
        Value position = clampNumber(s, s.add(low, asNumber(s, side, type)),
                                     axis.extent - 1);
        return {arith::FPToSIOp::create(s.b, s.loc, i32, position),
                s.select(point.isValid, weight, s.constant(type, 0))};
      });
  return {tables[0], tables[1], count};
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

bool RoiAlignOp::mustStayExact(unsigned operand) {
  return operand == getRoisMutable().getOperandNumber();
}

LogicalResult RoiAlignOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkRegions(*this, getX(), getRois())))
    return failure();
  const int64_t extraElements = getCorners() ? 1 : 0;
  tops.push_back({shapeOf(getRois())[0], shapeOf(getX())[1],
                  static_cast<int64_t>(getPooledH()) + extraElements,
                  static_cast<int64_t>(getPooledW()) + extraElements});
  return success();
}

LogicalResult RoiAlignOp::propagateItemCounts(ItemCounts &counts) {
  return propagateRegionCount(*this, counts, getX(), getRois());
}

LogicalResult
RoiAlignOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                           ArrayRef<bool> needed,
                           MutableArrayRef<Value> operandGradients) {
  if (failed(rejectRegionGradient(*this, needed[1])))
    return failure();
  if (Value dy = resultGradients[0])
    operandGradients[0] = RoiAlignBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getRois(), getLayerAttr(),
        getPooledHAttr(), getPooledWAttr(), getSpatialScaleAttr(),
        getPadRatioAttr(), getSamplesAttr(), getCornersAttr(),
        getUnitStepsAttr());
  return success();
}

SmallVector<Value> RoiAlignOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  const Alignment a = alignmentOf(*this);
  const Axis rows = {2, static_cast<int64_t>(getPooledH()), in[2]},
             columns = {1, static_cast<int64_t>(getPooledW()), in[3]};
  Value x = getX(), rois = getRois();
  auto element = [&](NestBuilder::Body &body, Value row, Value column) {
    return body.read(x, {regionImage(body, rois, body.loop(0), in[0]),
                         body.loop(1), row, column});
  };
  const SmallVector<bool> reduced = {false, false, false, false, true, true};
  if (!a.corners && a.samples <= 0) {
    // Loops: r c i j | h w
    NestBuilder nest(b, getLoc(),
                     {out[0], out[1], out[2], out[3], in[2], in[3]}, reduced);
    nest.input(buildWeights(b, getLoc(), a, rows), {0, 2, 4});
    nest.input(buildWeights(b, getLoc(), a, columns), {0, 3, 5});
    nest.output(tensorTypeOf(getY()), iota(4), 0.0);
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      Value value = element(body, body.loop(4), body.loop(5));
      Value weight = s.mul(body.in[0], body.in[1]);
      return {s.accumulate(body.out[0], s.mul(weight, value))};
    });
  }
  const Taps rowTaps = buildTaps(b, getLoc(), a, rows),
             columnTaps = buildTaps(b, getLoc(), a, columns);
  // Loops: r c i j | t u
  NestBuilder nest(
      b, getLoc(),
      {out[0], out[1], out[2], out[3], rowTaps.count, columnTaps.count},
      reduced);
  nest.input(rowTaps.positions, {0, 2, 4});
  nest.input(columnTaps.positions, {0, 3, 5});
  nest.input(rowTaps.weights, {0, 2, 4});
  nest.input(columnTaps.weights, {0, 3, 5});
  nest.output(tensorTypeOf(getY()), iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    auto asPosition = [&](Value integer, int64_t extent) {
      Value index =
          arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
      return s.clamp(index, extent);
    };
    Value value = element(body, asPosition(body.in[0], in[2]),
                          asPosition(body.in[1], in[3]));
    Value weight = s.mul(body.in[2], body.in[3]);
    return {s.accumulate(body.out[0], s.mul(weight, value))};
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

SmallVector<Value> RoiAlignBackwardOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  const Alignment a = alignmentOf(*this);
  Value rois = getRois();
  // Loops: n c h w | r i j
  NestBuilder nest(b, getLoc(),
                   {in[0], in[1], in[2], in[3], out[0], out[2], out[3]},
                   {false, false, false, false, true, true, true});
  nest.input(getDy(), {4, 1, 5, 6});
  nest.input(buildWeights(b, getLoc(), a,
                          {2, static_cast<int64_t>(getPooledH()), in[2]}),
             {4, 5, 2});
  nest.input(buildWeights(b, getLoc(), a,
                          {1, static_cast<int64_t>(getPooledW()), in[3]}),
             {4, 6, 3});
  nest.output(tensorTypeOf(getDx()), iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value share = s.mul(s.mul(body.in[1], body.in[2]), body.in[0]);
    if (in[0] > 1)
      share = s.select(
          s.equali(regionImage(body, rois, body.loop(4), in[0]), body.loop(0)),
          share, s.constant(share.getType(), 0));
    return {s.accumulate(body.out[0], share)};
  });
}
