//===- PriorBox.cpp - SSD's default boxes ---------------------------------===//
#include "dialects/Brew/layers/detection/Detection.h"
#include "dialects/Brew/layers/detection/Regions.h"

using namespace mlir;
using namespace brew::dialects;

bool PriorBoxOp::staysF32(unsigned) { return true; }

LogicalResult PriorBoxOp::inferShapes(Shapes &tops, Shapes &) {
  for (Value bottom : {getX(), getImage()})
    if (shapeOf(bottom).size() != 4)
      return layerError(*this) << "bottoms need 4 dimensions (N, C, H, W), not "
                               << shapeOf(bottom).size();
  if (getImageSize().empty())
    setImageSize(shapeOf(getImage()).drop_front(2));
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t boxes = getWidths().size();
  tops.push_back({1, 2, x[2] * x[3] * boxes * 4});
  return success();
}

/// The boxes do not depend on the number of images.
LogicalResult PriorBoxOp::propagateItemCounts(ItemCounts &counts) {
  for (Value bottom : getOperands())
    if (failed(counts.requireStaticExtents(*this, bottom, 2)))
      return failure();
  return success();
}

/// Builds values[index], for a few constants.
static Value pick(ScalarBuilder &s, Value index, ArrayRef<double> values,
                  Type type) {
  Value result = s.constant(type, values[0]);
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[i - 1])
      result = s.select(s.less(index, s.index(i)), result,
                        s.constant(type, values[i]));
  return result;
}

SmallVector<Value> PriorBoxOp::buildNests(OpBuilder &b) {
  ArrayRef<int64_t> x = shapeOf(getX());
  int64_t boxes = getWidths().size();
  auto type = tensorTypeOf(getY());
  Type element = type.getElementType();
  // Loops: data or variance, h, w, box, left top right bottom
  SmallVector<int64_t> extents = {2, x[2], x[3], boxes, 4};
  auto expandedType = RankedTensorType::get(extents, element);
  SmallVector<double> halfWidths, halfHeights, variances, xShifts, yShifts;
  for (float width : getWidths())
    halfWidths.push_back(width / 2.);
  for (float height : getHeights())
    halfHeights.push_back(height / 2.);
  if (getXShifts())
    xShifts.assign(getXShifts()->begin(), getXShifts()->end());
  if (getYShifts())
    yShifts.assign(getYShifts()->begin(), getYShifts()->end());
  for (int i = 0; i < 4; ++i)
    variances.push_back(getVariances()[getVariances().size() == 4 ? i : 0]);
  double extent[2], step[2];
  for (int i = 0; i < 2; ++i) {
    extent[i] = getImageSize()[i];
    step[i] = getStep()[i];
  }
  // A step counts only if both are set.
  if (step[0] == 0 || step[1] == 0)
    for (int i = 0; i < 2; ++i)
      step[i] = static_cast<float>(extent[i]) / static_cast<float>(x[2 + i]);

  NestBuilder nest(b, getLoc(), extents);
  nest.output(expandedType, iota(5));
  Value result = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value box = body.loop(3), side = body.loop(4);
    auto centre = [&](unsigned loop, double stepSize, ArrayRef<double> shifts) {
      Value position = asNumber(s, body.loop(loop), element);
      Value offset = s.constant(element, getOffset().convertToFloat());
      Value middle =
          s.mul(s.add(position, offset), s.constant(element, stepSize));
      return shifts.empty() ? middle
                            : s.add(middle, pick(s, box, shifts, element));
    };
    // Sides 0 and 2 are horizontal, sides 2 and 3 the far ones.
    Value horizontal = s.equali(s.remi(side, 2), s.index(0));
    Value middle = s.select(horizontal, centre(2, step[1], xShifts),
                            centre(1, step[0], yShifts));
    Value half = s.select(horizontal, pick(s, box, halfWidths, element),
                          pick(s, box, halfHeights, element));
    Value size = s.select(horizontal, s.constant(element, extent[1]),
                          s.constant(element, extent[0]));
    half = s.select(s.less(side, s.index(2)), s.neg(half), half);
    Value corner = s.div(s.add(middle, half), size);
    if (getClip())
      corner = clampNumber(s, corner, 1);
    return {s.select(s.equali(body.loop(0), s.index(0)), corner,
                     pick(s, side, variances, element))};
  })[0];
  return {ReinterpretOp::create(b, getLoc(), type, result)};
}
