//===- Regions.cpp - Regions of interest in nests -------------------------===//
#include "dialects/Brew/layers/detection/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult brew::dialects::checkRegions(Operation *layer, Value x,
                                           Value rois) {
  if (shapeOf(x).size() != 4)
    return layerError(layer) << "the features need 4 dimensions (N, C, H, W), "
                                "not "
                             << shapeOf(x).size();
  ArrayRef<int64_t> regions = shapeOf(rois);
  if (regions.size() < 2 || regions[1] != 5 ||
      countOf(regions) != 5 * regions[0]) {
    auto diagnostic = layerError(layer)
                      << "the regions must be rows of 5 numbers (image and "
                         "box), not of shape (";
    llvm::interleaveComma(regions, diagnostic);
    return diagnostic << ")";
  }
  return success();
}

LogicalResult brew::dialects::rejectRegionGradient(Operation *layer,
                                                   bool isNeeded) {
  if (!isNeeded)
    return success();
  return layerError(layer) << "the regions have no gradient; let the layer say "
                              "propagate_down: true and false";
}

LogicalResult brew::dialects::propagateRegionCount(Operation *layer,
                                                   ItemCounts &counts, Value x,
                                                   Value rois) {
  if (failed(counts.requireAllItems(layer, x)))
    return failure();
  return counts.propagate(layer, rois);
}

Value brew::dialects::regionField(NestBuilder::Body &body, Value rois,
                                  Value roi, int64_t field) {
  ScalarBuilder &s = body.s;
  SmallVector<Value> indices = {roi, s.index(field)};
  indices.resize(shapeOf(rois).size(), s.index(0));
  return body.read(rois, indices);
}

Value brew::dialects::regionImage(NestBuilder::Body &body, Value rois,
                                  Value roi, int64_t images) {
  ScalarBuilder &s = body.s;
  if (images == 1)
    return s.index(0);
  Value image = clampNumber(s, regionField(body, rois, roi, 0), images - 1);
  Value integer = arith::FPToSIOp::create(s.b, s.loc, s.b.getI32Type(), image);
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
}

Value brew::dialects::asNumber(ScalarBuilder &s, Value index, Type type) {
  Value integer =
      arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), index);
  return arith::SIToFPOp::create(s.b, s.loc, type, integer);
}

Value brew::dialects::floorOf(ScalarBuilder &s, Value x) {
  return math::FloorOp::create(s.b, s.loc, x);
}
Value brew::dialects::ceilOf(ScalarBuilder &s, Value x) {
  return math::CeilOp::create(s.b, s.loc, x);
}

Value brew::dialects::rounded(ScalarBuilder &s, Value x) {
  Value size = math::AbsFOp::create(s.b, s.loc, x);
  Value below = floorOf(s, size);
  Value half = s.constant(x.getType(), 0.5);
  Value up = s.greaterEqual(s.sub(size, below), half);
  Value result = s.select(up, s.add(below, s.constant(x.getType(), 1)), below);
  return s.select(s.greater(s.constant(x.getType(), 0), x), s.neg(result),
                  result);
}

Value brew::dialects::clampNumber(ScalarBuilder &s, Value x, double limit) {
  Value low = s.maximum(x, s.constant(x.getType(), 0));
  Value high = s.constant(x.getType(), limit);
  return s.select(s.greater(high, low), low, high);
}

Value CellBounds::contains(ScalarBuilder &s, Value atNumber) const {
  return s.both(s.greaterEqual(atNumber, first), s.greater(last, atNumber));
}

Value CellBounds::isEmpty(ScalarBuilder &s) const {
  return s.greaterEqual(first, last);
}
