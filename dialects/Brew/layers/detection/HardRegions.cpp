//===- HardRegions.cpp - Regions with the largest losses ------------------===//
#include "dialects/Brew/layers/detection/Detection.h"

#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

/// Returns the extent of a dimension, 1 if there is no such dimension.
static int64_t extentOf(ArrayRef<int64_t> shape, size_t dim) {
  return dim < shape.size() ? shape[dim] : 1;
}

/// Returns whether `shape` is (N, `channels`, H, W) for regions of this shape.
/// Dimensions of extent 1 at the end may be missing.
static bool fitsRegions(ArrayRef<int64_t> shape, ArrayRef<int64_t> rois,
                        int64_t channels) {
  return !shape.empty() && shape.size() <= 4 && shape[0] == rois[0] &&
         extentOf(shape, 1) == channels &&
         extentOf(shape, 2) == extentOf(rois, 2) &&
         extentOf(shape, 3) == extentOf(rois, 3);
}

LogicalResult HardRegionsOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> rois = shapeOf(getRois()), weights = shapeOf(getWeights());
  if (rois.size() < 2 || rois.size() > 4 || rois[1] != 5)
    return layerError(*this)
           << "takes regions with 5 numbers each: (N, 5), not "
           << dimsText(rois);
  const int64_t h = extentOf(rois, 2), w = extentOf(rois, 3);
  for (Value bottom : {getLosses(), getLabels()})
    if (!fitsRegions(shapeOf(bottom), rois, 1))
      return layerError(*this)
             << "needs one loss and one label for each region: "
             << dimsText({rois[0], 1, h, w}) << ", not "
             << dimsText(shapeOf(bottom));
  const int64_t channels = extentOf(weights, 1);
  if (!fitsRegions(weights, rois, channels))
    return layerError(*this)
           << "takes box weights for each region: (" << rois[0] << ", C, " << h
           << ", " << w << "), not " << dimsText(weights);
  tops.assign({{rois[0], 1, h, w}, {rois[0], channels, h, w}});
  return success();
}

SmallVector<Value> HardRegionsOp::buildNests(OpBuilder &b) {
  Location loc = getLoc();
  Value rois = getRois();
  ArrayRef<int64_t> roiShape = shapeOf(rois);
  const int64_t n = roiShape[0], h = extentOf(roiShape, 2),
                w = extentOf(roiShape, 3);
  Type element = elementTypeOf(getLosses());
  auto perRegion = RankedTensorType::get({n, h, w}, element);
  auto viewed = [&](Value value) -> Value {
    if (value.getType() == perRegion)
      return value;
    return ReinterpretOp::create(b, loc, perRegion, value);
  };

  // Counts the regions of the same image with a larger loss, or an equal one
  // and before the region.
  NestBuilder rank(b, loc, {n, h, w, n, h, w},
                   {false, false, false, true, true, true});
  Value losses = viewed(getLosses());
  rank.input(losses, {0, 1, 2});
  rank.input(losses, {3, 4, 5});
  rank.output(perRegion, {0, 1, 2}, 0.0);
  Value ranks = rank.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    auto numberOf = [&](unsigned first) {
      Value row = s.addi(s.muli(body.loop(first), h), body.loop(first + 1));
      return s.addi(s.muli(row, w), body.loop(first + 2));
    };
    auto imageOf = [&](unsigned first) {
      SmallVector<Value> indices = {body.loop(first), s.index(0),
                                    body.loop(first + 1), body.loop(first + 2)};
      indices.truncate(roiShape.size());
      return body.read(rois, indices);
    };
    Value zero = s.constant(element, 0), one = s.constant(element, 1);
    Value isEarlier = s.both(s.equal(body.in[0], body.in[1]),
                             s.less(numberOf(3), numberOf(0)));
    Value isBefore = s.select(s.greater(body.in[1], body.in[0]), one,
                              s.select(isEarlier, one, zero));
    return {s.accumulate(body.out[0], s.select(s.equal(imageOf(0), imageOf(3)),
                                               isBefore, zero))};
  })[0];

  // Builds `value` for kept regions, and `other` for others.
  auto ifKept = [&](Value value, ArrayRef<int64_t> dims, Value top,
                    double other) {
    auto type = tensorTypeOf(top);
    NestBuilder nest(b, loc, type.getShape());
    nest.input(value, dims);
    nest.input(ranks, {0, 2, 3});
    nest.output(type, iota(4));
    return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      auto count = static_cast<double>(getCount());
      return {s.select(s.greater(s.constant(element, count), body.in[1]),
                       body.in[0], s.constant(element, other))};
    })[0];
  };
  const auto ignored =
      static_cast<double>(static_cast<int64_t>(getIgnoreLabel()));
  return {ifKept(viewed(getLabels()), {0, 2, 3}, getKeptLabels(), ignored),
          ifKept(getWeights(),
                 iota(static_cast<int64_t>(shapeOf(getWeights()).size())),
                 getKeptWeights(), 0)};
}
