//===- Im2col.cpp - brew.im2col and its gradient --------------------------===//
//
// y[n, (c*R + r)*S + s, p, q] = x[n, c, p*stride - pad + r*dilation, ...], and
// 0 in the padding, for any number of spatial dimensions.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult Im2colOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(resolveWindow(*this)))
    return failure();
  FailureOr<SmallVector<int64_t>> y =
      convolvedShape(*this, shapeOf(getX())[getAxis()] * countOf(getKernel()));
  if (failed(y))
    return failure();
  tops.push_back(*y);
  return success();
}

LogicalResult
Im2colOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                         ArrayRef<bool>,
                         MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = Col2imOp::create(
        b, getLoc(), getX().getType(), dy, getLayerAttr(), getKernelAttr(),
        getStrideAttr(), getPadAttr(), getDilationAttr());
  return success();
}

SmallVector<Value> Im2colOp::buildNests(OpBuilder &b) {
  ConvolutionShapes shapes(*this, shapeOf(getX()), shapeOf(getY()), 1);
  int64_t lead = shapes.lead.size(), spatial = shapes.axes.size();
  NestBuilder nest(b, getLoc(), shapeOf(getY()));
  nest.output(tensorTypeOf(getY()), iota(lead + 1 + spatial));
  Value x = getX();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    // The channel of y is composed of x's channel and the taps, the last tap
    // innermost.
    Value remaining = body.loop(lead), valid;
    SmallVector<Value> taps(spatial);
    for (int64_t i = spatial - 1; i >= 0; --i) {
      taps[i] = s.remi(remaining, shapes.axes[i].kernel);
      remaining = s.divi(remaining, shapes.axes[i].kernel);
    }
    SmallVector<Value> indices;
    for (int64_t i = 0; i < lead; ++i)
      indices.push_back(body.loop(i));
    indices.push_back(remaining);
    for (int64_t i = 0; i < spatial; ++i)
      indices.push_back(tapPosition(s, shapes.axes[i], body.loop(lead + 1 + i),
                                    taps[i], valid));
    return {orZero(s, valid, body.read(x, indices))};
  });
}

SmallVector<Value> Col2imOp::buildNests(OpBuilder &b) {
  ConvolutionShapes shapes(*this, shapeOf(getDx()), shapeOf(getDy()), 1);
  int64_t lead = shapes.lead.size(), spatial = shapes.axes.size();
  // Loops: dimensions of dx | windows that cover an element
  SmallVector<int64_t> extents(shapeOf(getDx()));
  SmallVector<bool> reduction(extents.size(), false);
  for (const WindowAxis &axis : shapes.axes) {
    extents.push_back(coveringWindows(axis));
    reduction.push_back(true);
  }
  NestBuilder nest(b, getLoc(), extents, reduction);
  nest.output(tensorTypeOf(getDx()), iota(lead + 1 + spatial), 0.0);
  Value dy = getDy();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid, channel = body.loop(lead);
    SmallVector<Value> windows;
    for (auto [i, axis] : llvm::enumerate(shapes.axes)) {
      Value tap;
      windows.push_back(coveringWindow(s, axis, body.loop(lead + 1 + i),
                                       body.loop(lead + 1 + spatial + i), tap,
                                       valid));
      channel =
          s.addi(s.muli(channel, axis.kernel),
                 tapMayExceedKernel(axis) ? s.clamp(tap, axis.kernel) : tap);
    }
    SmallVector<Value> indices;
    for (int64_t i = 0; i < lead; ++i)
      indices.push_back(body.loop(i));
    indices.push_back(channel);
    indices.append(windows);
    Value gradient = orZero(s, valid, body.read(dy, indices));
    return {s.accumulate(body.out[0], gradient)};
  });
}
