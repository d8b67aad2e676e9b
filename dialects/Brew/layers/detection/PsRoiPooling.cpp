//===- PsRoiPooling.cpp - Region pooling of R-FCN -------------------------===//
//
// A region's corners are rounded and then scaled. Each of its cells is averaged
// over the cell's own channels.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/detection/Detection.h"
#include "dialects/Brew/layers/detection/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

/// Builds the bounds of cell `cell` of `cells` in the dimension whose corners
/// are fields `from` and `from` + 2 of a region.
static CellBounds averagedCell(NestBuilder::Body &body, Value rois, Value roi,
                               int64_t from, Value cell, int64_t cells,
                               double scale, int64_t extent) {
  ScalarBuilder &s = body.s;
  Type type = elementTypeOf(rois);
  Value factor = s.constant(type, scale), one = s.constant(type, 1);
  auto corner = [&](int64_t field) {
    return rounded(s, regionField(body, rois, roi, field));
  };
  Value start = s.mul(corner(from), factor);
  Value end = s.mul(s.add(corner(from + 2), one), factor);
  // The extent is at least 0.1.
  Value size = s.maximum(s.sub(end, start), s.constant(type, 0.1));
  Value step = s.div(size, s.constant(type, cells));
  auto edge = [&](Value number) { return s.add(s.mul(number, step), start); };
  Value number = asNumber(s, cell, type);
  return {clampNumber(s, floorOf(s, edge(number)), extent),
          clampNumber(s, ceilOf(s, edge(s.add(number, one))), extent)};
}

/// Builds the number of positions of a cell, at least 1, as a floating-point
/// number.
static Value cellArea(ScalarBuilder &s, const CellBounds &rows,
                      const CellBounds &columns) {
  Value area =
      s.mul(s.sub(rows.last, rows.first), s.sub(columns.last, columns.first));
  return s.maximum(area, s.constant(area.getType(), 1));
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

bool PsRoiPoolingOp::mustStayExact(unsigned operand) {
  return operand == getRoisMutable().getOperandNumber();
}

LogicalResult PsRoiPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkRegions(*this, getX(), getRois())))
    return failure();
  int64_t outputs = getOutputDim(), group = getGroupSize();
  if (shapeOf(getX())[1] != outputs * group * group)
    return layerError(*this)
           << "the features have " << shapeOf(getX())[1]
           << " channels; output_dim " << outputs << " and group_size " << group
           << " need " << outputs * group * group;
  tops.push_back({shapeOf(getRois())[0], outputs, group, group});
  return success();
}

LogicalResult PsRoiPoolingOp::propagateItemCounts(ItemCounts &counts) {
  return propagateRegionCount(*this, counts, getX(), getRois());
}

LogicalResult
PsRoiPoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool> needed,
                               MutableArrayRef<Value> operandGradients) {
  if (failed(rejectRegionGradient(*this, needed[1])))
    return failure();
  if (Value dy = resultGradients[0])
    operandGradients[0] = PsRoiPoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getRois(), getLayerAttr(),
        getSpatialScaleAttr());
  return success();
}

SmallVector<Value> PsRoiPoolingOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  double scale = getSpatialScale().convertToFloat();
  int64_t group = out[2];
  Value x = getX(), rois = getRois();
  auto bounds = [&](NestBuilder::Body &body) {
    Value roi = body.loop(0);
    return std::pair(
        averagedCell(body, rois, roi, 2, body.loop(2), group, scale, in[2]),
        averagedCell(body, rois, roi, 1, body.loop(3), group, scale, in[3]));
  };
  // Loops: r d i j | h w
  NestBuilder nest(b, getLoc(), {out[0], out[1], group, group, in[2], in[3]},
                   {false, false, false, false, true, true});
  nest.output(tensorTypeOf(getY()), {0, 1, 2, 3}, 0.0);
  Value sum = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type type = elementTypeOf(x);
    auto [rows, columns] = bounds(body);
    Value inside = s.both(rows.contains(s, asNumber(s, body.loop(4), type)),
                          columns.contains(s, asNumber(s, body.loop(5), type)));
    Value channel =
        s.addi(s.muli(s.addi(s.muli(body.loop(1), group), body.loop(2)), group),
               body.loop(3));
    Value element = body.read(x, {regionImage(body, rois, body.loop(0), in[0]),
                                  channel, body.loop(4), body.loop(5)});
    return {s.accumulate(body.out[0],
                         s.select(inside, element, s.constant(type, 0)))};
  })[0];
  NestBuilder mean(b, getLoc(), out);
  mean.input(sum, {0, 1, 2, 3});
  mean.output(tensorTypeOf(getY()), {0, 1, 2, 3});
  return mean.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    auto [rows, columns] = bounds(body);
    return {body.s.div(body.in[0], cellArea(body.s, rows, columns))};
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

SmallVector<Value> PsRoiPoolingBackwardOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  double scale = getSpatialScale().convertToFloat();
  int64_t group = out[2];
  Value dy = getDy(), rois = getRois();
  // Loops: n c h w | r
  NestBuilder nest(b, getLoc(), {in[0], in[1], in[2], in[3], out[0]},
                   {false, false, false, false, true});
  nest.output(tensorTypeOf(getDx()), {0, 1, 2, 3}, 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type type = elementTypeOf(dy);
    Value channel = body.loop(1), roi = body.loop(4);
    Value j = s.remi(channel, group), remaining = s.divi(channel, group);
    Value i = s.remi(remaining, group), d = s.divi(remaining, group);
    CellBounds rows = averagedCell(body, rois, roi, 2, i, group, scale, in[2]);
    CellBounds columns =
        averagedCell(body, rois, roi, 1, j, group, scale, in[3]);
    Value inside = s.both(rows.contains(s, asNumber(s, body.loop(2), type)),
                          columns.contains(s, asNumber(s, body.loop(3), type)));
    if (in[0] > 1)
      inside = s.both(
          inside, s.equali(regionImage(body, rois, roi, in[0]), body.loop(0)));
    Value share =
        s.div(body.read(dy, {roi, d, i, j}), cellArea(s, rows, columns));
    return {s.accumulate(body.out[0],
                         s.select(inside, share, s.constant(type, 0)))};
  });
}
