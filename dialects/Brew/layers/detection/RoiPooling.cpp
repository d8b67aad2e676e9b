//===- RoiPooling.cpp - Region pooling of Fast R-CNN ----------------------===//
//
// A region's corners are padded, scaled and rounded; it is divided into equal
// cells whose bounds are rounded outwards and clipped to the plane.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/detection/Detection.h"
#include "dialects/Brew/layers/detection/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>

using namespace mlir;
using namespace brew::dialects;

/// Builds the bounds of cell `cell` of `cells` in the dimension whose corners
/// are fields `from` and `from` + 2 of a region.
static CellBounds pooledCell(NestBuilder::Body &body, Value rois, Value roi,
                             int64_t from, Value cell, int64_t cells,
                             double scale, double padRatio, int64_t extent) {
  ScalarBuilder &s = body.s;
  Type type = elementTypeOf(rois);
  Value one = s.constant(type, 1);
  Value low = regionField(body, rois, roi, from);
  Value high = regionField(body, rois, roi, from + 2);
  if (padRatio != 0) {
    Value pad = s.mul(s.add(s.sub(high, low), one), s.constant(type, padRatio));
    low = s.sub(low, pad);
    high = s.add(high, pad);
  }
  auto corner = [&](Value pixel) {
    return rounded(s, s.mul(pixel, s.constant(type, scale)));
  };
  Value start = corner(low), end = corner(high);
  Value size = s.maximum(s.add(s.sub(end, start), one), one);
  Value step = s.div(size, s.constant(type, cells));
  auto bound = [&](Value offset) {
    return clampNumber(s, s.add(offset, start), extent);
  };
  Value number = asNumber(s, cell, type);
  return {bound(floorOf(s, s.mul(number, step))),
          bound(ceilOf(s, s.mul(s.add(number, one), step)))};
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

bool RoiPoolingOp::mustStayExact(unsigned operand) {
  return operand == getRoisMutable().getOperandNumber();
}

LogicalResult RoiPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkRegions(*this, getX(), getRois())))
    return failure();
  tops.assign(2, {shapeOf(getRois())[0], shapeOf(getX())[1],
                  static_cast<int64_t>(getPooledH()),
                  static_cast<int64_t>(getPooledW())});
  getArgmax().setType(
      UnrankedTensorType::get(IntegerType::get(getContext(), 32)));
  return success();
}

LogicalResult RoiPoolingOp::propagateItemCounts(ItemCounts &counts) {
  return propagateRegionCount(*this, counts, getX(), getRois());
}

LogicalResult
RoiPoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                             ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandGradients) {
  if (failed(rejectRegionGradient(*this, needed[1])))
    return failure();
  if (Value dy = resultGradients[0])
    operandGradients[0] = RoiPoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getRois(), getArgmax(),
        getLayerAttr(), getPooledHAttr(), getPooledWAttr(),
        getSpatialScaleAttr());
  return success();
}

SmallVector<Value> RoiPoolingOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getX()), out = shapeOf(getY());
  double scale = getSpatialScale().convertToFloat();
  double pad = getPadRatio().convertToFloat();
  // Loops: r c i j | h w
  NestBuilder nest(b, getLoc(), {out[0], out[1], out[2], out[3], in[2], in[3]},
                   {false, false, false, false, true, true});
  nest.output(tensorTypeOf(getY()), {0, 1, 2, 3}, -FLT_MAX);
  nest.output(tensorTypeOf(getArgmax()), {0, 1, 2, 3}, -1);
  Value x = getX(), rois = getRois();
  SmallVector<Value> largest =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Type type = elementTypeOf(x);
        Value roi = body.loop(0);
        CellBounds rows = pooledCell(body, rois, roi, 2, body.loop(2), out[2],
                                     scale, pad, in[2]);
        CellBounds columns = pooledCell(body, rois, roi, 1, body.loop(3),
                                        out[3], scale, pad, in[3]);
        Value inside =
            s.both(rows.contains(s, asNumber(s, body.loop(4), type)),
                   columns.contains(s, asNumber(s, body.loop(5), type)));
        Value element =
            body.read(x, {regionImage(body, rois, roi, in[0]), body.loop(1),
                          body.loop(4), body.loop(5)});
        Value larger = s.both(inside, s.greater(element, body.out[0]));
        Value position = arith::IndexCastOp::create(
            s.b, s.loc, s.b.getI32Type(),
            s.addi(s.muli(body.loop(4), in[3]), body.loop(5)));
        return {s.select(larger, element, body.out[0]),
                s.select(larger, position, body.out[1])};
      });
  // An empty cell yields 0.
  NestBuilder finish(b, getLoc(), out);
  finish.input(largest[0], {0, 1, 2, 3});
  finish.output(tensorTypeOf(getY()), {0, 1, 2, 3});
  Value y = finish.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value roi = body.loop(0);
    CellBounds rows =
        pooledCell(body, rois, roi, 2, body.loop(2), out[2], scale, pad, in[2]);
    CellBounds columns =
        pooledCell(body, rois, roi, 1, body.loop(3), out[3], scale, pad, in[3]);
    Value empty =
        arith::OrIOp::create(s.b, s.loc, rows.isEmpty(s), columns.isEmpty(s));
    Value value = body.in[0];
    return {s.select(empty, s.constant(value.getType(), 0), value)};
  })[0];
  return {y, largest[1]};
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

SmallVector<Value> RoiPoolingBackwardOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> in = shapeOf(getDx()), out = shapeOf(getDy());
  // Loops: n c h w | r i j
  NestBuilder nest(b, getLoc(),
                   {in[0], in[1], in[2], in[3], out[0], out[2], out[3]},
                   {false, false, false, false, true, true, true});
  nest.input(getDy(), {4, 1, 5, 6});
  nest.input(getArgmax(), {4, 1, 5, 6});
  nest.output(tensorTypeOf(getDx()), {0, 1, 2, 3}, 0.0);
  Value rois = getRois();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value position = arith::IndexCastOp::create(
        s.b, s.loc, s.b.getI32Type(),
        s.addi(s.muli(body.loop(2), in[3]), body.loop(3)));
    Value isMaximum = s.equali(body.in[1], position);
    if (in[0] > 1)
      isMaximum = s.both(
          isMaximum,
          s.equali(regionImage(body, rois, body.loop(4), in[0]), body.loop(0)));
    return {s.accumulate(
        body.out[0],
        s.select(isMaximum, body.in[0], s.constant(elementTypeOf(rois), 0)))};
  });
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/detection/Detection.cpp.inc"

void brew::dialects::registerDetectionLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/detection/Detection.cpp.inc"
      >();
}
