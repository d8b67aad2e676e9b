//===- MaxUnpooling.cpp - Inverse of max pooling by its mask --------------===//
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/loss/Labels.h"
#include "dialects/Brew/layers/pooling/Pooling.h"
#include "dialects/Brew/layers/pooling/PoolingShapes.h"

using namespace mlir;
using namespace brew::dialects;

/// Returns the pooling that computed `mask` if its bottom has the size of the
/// result, or null.
static MaxPoolingOp poolingOf(Value mask, ArrayRef<int64_t> size) {
  while (auto split = mask.getDefiningOp<SplitOp>())
    mask = split.getX();
  auto pooling = mask.getDefiningOp<MaxPoolingOp>();
  if (!pooling || pooling.getMask() != mask ||
      shapeOf(pooling.getX()).drop_front(2) != size)
    return {};
  return pooling;
}

bool MaxUnpoolingOp::mustStayExact(unsigned operand) {
  return operand == getMaskMutable().getOperandNumber();
}

LogicalResult MaxUnpoolingOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.size() != 4)
    return layerError(*this) << "needs a bottom of 4 dimensions (N, C, H, W), "
                                "not "
                             << x.size();
  if (shapeOf(getMask()) != x)
    return layerError(*this)
           << "the mask has shape " << dimsText(shapeOf(getMask()))
           << ", but the bottom has " << dimsText(x);
  SmallVector<int64_t> size(getSize());
  if (size.empty())
    for (int i : {0, 1})
      size.push_back(x[2 + i] * getScale()[i] - getPadOut()[i]);
  setSize(size);
  if (MaxPoolingOp pooling = poolingOf(getMask(), size)) {
    setKernel(pooling.getKernel());
    setStride(pooling.getStride());
    setPad(pooling.getPad());
  }
  tops.push_back({x[0], x[1], size[0], size[1]});
  tops.push_back({});
  return success();
}

int64_t MaxUnpoolingOp::labelLimit() { return countOf(getSize()); }

LogicalResult
MaxUnpoolingOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                               ArrayRef<bool>,
                               MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = MaxUnpoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getMask(), getLayerAttr());
  return success();
}

SmallVector<Value> MaxUnpoolingOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  Value x = getX(), mask = getMask();
  ArrayRef<int64_t> in = shapeOf(x);
  int64_t planeSize = labelLimit();
  bool hasWindow = !getKernel().empty();
  // Iterate over the pooling's windows that cover a position, or over all
  // elements of the plane.
  WindowAxis axes[2];
  SmallVector<int64_t> extents(type.getShape());
  for (int i : {0, 1}) {
    if (hasWindow)
      axes[i] = axisOf(*this, i, type.getShape(), in);
    extents.push_back(hasWindow ? coveringWindows(axes[i]) : in[2 + i]);
  }
  NestBuilder nest(b, getLoc(), extents, kWindowReduction);
  nest.output(type, {0, 1, 2, 3}, 0.0);
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    SmallVector<Value> indices = {body.loop(0), body.loop(1)};
    Value valid;
    for (int i : {0, 1}) {
      Value window = body.loop(4 + i), tap;
      // coveringWindow() starts with the last window. Here that window must
      // come last, since the last element wins.
      if (hasWindow)
        window = coveringWindow(s, axes[i], body.loop(2 + i),
                                s.subi(s.index(extents[4 + i] - 1), window),
                                tap, valid);
      indices.push_back(window);
    }
    Label target(s, body.read(mask, indices), planeSize, std::nullopt);
    Value position =
        s.addi(s.muli(body.loop(2), type.getDimSize(3)), body.loop(3));
    Value isTarget = s.both(target.inRange, s.equali(target.index, position));
    return {s.select(andIfAny(s, valid, isTarget), body.read(x, indices),
                     body.out[0])};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, getLoc(), mask, planeSize, std::nullopt,
                         tensorTypeOf(getStatus()));
  return {y, status};
}

SmallVector<Value> MaxUnpoolingBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  Value dy = getDy();
  int64_t height = shapeOf(dy)[2], width = shapeOf(dy)[3];
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getMask(), {0, 1, 2, 3});
  nest.output(type, {0, 1, 2, 3});
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Label target(s, body.in[0], height * width, std::nullopt);
    Value gradient =
        body.read(dy, {body.loop(0), body.loop(1), s.divi(target.index, width),
                       s.remi(target.index, width)});
    return {orZero(s, target.inRange, gradient)};
  });
}
