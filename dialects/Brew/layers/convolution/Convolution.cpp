//===- Convolution.cpp - brew.convolution and its gradients ---------------===//
//
// Formulas, with x [N,C,H,W], w [K,C/G,R,S], y [N,K,P,Q]:
//   y[n,k,p,q]  = b[k] + sum_{c,r,s} x[n, g*C/G + c, p*stride - pad +
//   r*dilation, ...] w[k,c,r,s]
// where g = k / (K/G) is k's group. The gradients gather: every element of dx
// and dw sums its own products. N, and H and W, can be any number of
// dimensions.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Brew/layers/convolution/ConvolutionShapes.h"
#include "dialects/Brew/layers/convolution/Epilogue.h"

using namespace mlir;
using namespace brew::dialects;

namespace {
/// The extents and the roles of loops, in the order in which they are added.
struct Loops {
  SmallVector<int64_t> extents;
  SmallVector<bool> reduction;

  int64_t add(int64_t extent, bool isReduction) {
    extents.push_back(extent);
    reduction.push_back(isReduction);
    return extents.size() - 1;
  }
  SmallVector<int64_t> add(ArrayRef<int64_t> each, bool isReduction) {
    SmallVector<int64_t> loops;
    for (int64_t extent : each)
      loops.push_back(add(extent, isReduction));
    return loops;
  }
};

/// Returns {first..., middle, last...}.
template <typename T>
SmallVector<T> joined(ArrayRef<T> first, T middle, ArrayRef<T> last) {
  SmallVector<T> all(first);
  all.push_back(middle);
  all.append(last.begin(), last.end());
  return all;
}

SmallVector<Value> loopValues(NestBuilder::Body &body,
                              ArrayRef<int64_t> loops) {
  SmallVector<Value> values;
  for (int64_t loop : loops)
    values.push_back(body.loop(loop));
  return values;
}

/// Builds the index of channel `inside` of a group of `size` channels. The
/// group is that of channel `of`, where each group has `perGroup` channels.
Value channelInGroup(ScalarBuilder &s, const ConvolutionShapes &g, Value of,
                     int64_t perGroup, Value inside, int64_t size) {
  if (g.group == 1)
    return inside;
  if (size == 1)
    return s.divi(of, perGroup);
  return s.addi(inside, s.muli(s.divi(of, perGroup), size));
}
} // namespace

//===----------------------------------------------------------------------===//
// The three computations
//===----------------------------------------------------------------------===//

/// Builds a forward convolution without bias.
static Value buildForward(OpBuilder &b, Location loc,
                          const ConvolutionShapes &g, Value x, Value w,
                          RankedTensorType type) {
  Loops loops;
  SmallVector<int64_t> n = loops.add(g.lead, false);
  int64_t k = loops.add(g.k, false);
  SmallVector<int64_t> p = loops.add(g.outputs(), false);
  int64_t c = loops.add(g.c / g.group, true);
  SmallVector<int64_t> r = loops.add(g.kernels(), true);
  NestBuilder nest(b, loc, loops.extents, loops.reduction);
  nest.input(w, joined<int64_t>({k}, c, r));
  nest.output(type, joined<int64_t>(n, k, p), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid;
    SmallVector<Value> at = loopValues(body, n);
    at.push_back(channelInGroup(s, g, body.loop(k), g.k / g.group, body.loop(c),
                                g.c / g.group));
    for (auto [i, axis] : llvm::enumerate(g.axes))
      at.push_back(
          tapPosition(s, axis, body.loop(p[i]), body.loop(r[i]), valid));
    Value element = orZero(s, valid, body.read(x, at));
    return {s.accumulate(body.out[0], s.mul(element, body.in[0]))};
  })[0];
}

/// Builds the gradient with respect to the bottom, which is also a
/// deconvolution.
static Value buildBackwardData(OpBuilder &b, Location loc,
                               const ConvolutionShapes &g, Value dy, Value w,
                               RankedTensorType type) {
  Loops loops;
  SmallVector<int64_t> n = loops.add(g.lead, false);
  int64_t c = loops.add(g.c, false);
  SmallVector<int64_t> h = loops.add(g.inputs(), false);
  int64_t k = loops.add(g.k / g.group, true);
  SmallVector<int64_t> shift;
  for (const WindowAxis &axis : g.axes)
    shift.push_back(loops.add(coveringWindows(axis), true));
  NestBuilder nest(b, loc, loops.extents, loops.reduction);
  nest.output(type, joined<int64_t>(n, c, h), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    int64_t perGroup = g.c / g.group;
    Value valid, channel = body.loop(c);
    SmallVector<Value> at = loopValues(body, n);
    at.push_back(
        channelInGroup(s, g, channel, perGroup, body.loop(k), g.k / g.group));
    Value within = g.group == 1    ? channel
                   : perGroup == 1 ? s.index(0)
                                   : s.remi(channel, perGroup);
    SmallVector<Value> weight = {at.back(), within};
    for (auto [i, axis] : llvm::enumerate(g.axes)) {
      Value tap;
      at.push_back(coveringWindow(s, axis, body.loop(h[i]), body.loop(shift[i]),
                                  tap, valid));
      weight.push_back(tapMayExceedKernel(axis) ? s.clamp(tap, axis.kernel)
                                                : tap);
    }
    Value product = s.mul(body.read(dy, at), body.read(w, weight));
    return {s.accumulate(body.out[0], orZero(s, valid, product))};
  })[0];
}

/// Builds the gradient with respect to the weights.
static Value buildBackwardWeights(OpBuilder &b, Location loc,
                                  const ConvolutionShapes &g, Value x, Value dy,
                                  RankedTensorType type) {
  Loops loops;
  int64_t k = loops.add(g.k, false);
  int64_t c = loops.add(g.c / g.group, false);
  SmallVector<int64_t> r = loops.add(g.kernels(), false);
  SmallVector<int64_t> n = loops.add(g.lead, true);
  SmallVector<int64_t> p = loops.add(g.outputs(), true);
  NestBuilder nest(b, loc, loops.extents, loops.reduction);
  nest.input(dy, joined<int64_t>(n, k, p));
  nest.output(type, joined<int64_t>({k}, c, r), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid;
    SmallVector<Value> at = loopValues(body, n);
    at.push_back(channelInGroup(s, g, body.loop(k), g.k / g.group, body.loop(c),
                                g.c / g.group));
    for (auto [i, axis] : llvm::enumerate(g.axes))
      at.push_back(
          tapPosition(s, axis, body.loop(p[i]), body.loop(r[i]), valid));
    Value element = orZero(s, valid, body.read(x, at));
    return {s.accumulate(body.out[0], s.mul(element, body.in[0]))};
  })[0];
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

LogicalResult ConvolutionOp::inferShapes(Shapes &tops, Shapes &params) {
  if (failed(resolveWindow(*this)))
    return failure();
  int64_t channels = shapeOf(getX())[getAxis()];
  if (getDepthwise()) {
    if (getNumOutput() && static_cast<int64_t>(getNumOutput()) != channels)
      return layerError(*this)
             << "num_output is " << getNumOutput()
             << ", but a depthwise convolution has the channels of its bottom, "
             << channels;
    setNumOutput(channels);
    setGroup(channels);
  }
  int64_t outputs = getNumOutput(), group = getGroup();
  if (failed(checkGroups(*this, channels, outputs, group)))
    return failure();
  FailureOr<SmallVector<int64_t>> y = convolvedShape(*this, outputs);
  if (failed(y))
    return failure();
  tops.push_back(*y);
  params.push_back(joined<int64_t>({outputs}, channels / group, getKernel()));
  if (getB())
    params.push_back({outputs});
  return success();
}

LogicalResult
ConvolutionOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  bool needsBias = getB() && needed[2];
  if (needed[1] || needsBias) {
    auto op = ConvolutionBackwardWeightsOp::create(
        b, getLoc(), getW().getType(), needsBias ? getB().getType() : Type(),
        getX(), dy, getLayerAttr(), getKernelAttr(), getStrideAttr(),
        getPadAttr(), getDilationAttr(), getGroupAttr());
    operandGradients[1] = op.getDw();
    if (needsBias)
      operandGradients[2] = op.getDb();
  }
  if (needed[0])
    operandGradients[0] = ConvolutionBackwardDataOp::create(
        b, getLoc(), getX().getType(), dy, getW(), Value(), getLayerAttr(),
        getKernelAttr(), getStrideAttr(), getPadAttr(), getDilationAttr(),
        getGroupAttr());
  return success();
}

SmallVector<Value> ConvolutionOp::buildNests(OpBuilder &b) {
  ConvolutionShapes g(*this, shapeOf(getX()), shapeOf(getY()), getGroup());
  Value sum =
      buildForward(b, getLoc(), g, getX(), getW(), tensorTypeOf(getY()));
  return {buildEpilogue(b, getLoc(), sum, getB(), g.lead.size(), getRelu(),
                        tensorTypeOf(getY()))};
}

SmallVector<Value> ConvolutionSumOp::buildNests(OpBuilder &b) {
  ConvolutionShapes g(*this, shapeOf(getX()), shapeOf(getY()), getGroup());
  Value product =
      buildForward(b, getLoc(), g, getX(), getW(), tensorTypeOf(getY()));
  return {buildEpilogue(b, getLoc(), product, getB(), g.lead.size(), getRelu(),
                        tensorTypeOf(getY()), getSum())};
}

//===----------------------------------------------------------------------===//
// Gradient with respect to the bottom
//===----------------------------------------------------------------------===//

SmallVector<Value> ConvolutionBackwardDataOp::buildNests(OpBuilder &b) {
  ConvolutionShapes g(*this, shapeOf(getDx()), shapeOf(getDy()), getGroup());
  Value dx =
      buildBackwardData(b, getLoc(), g, getDy(), getW(), tensorTypeOf(getDx()));
  return {getSum() ? buildEpilogue(b, getLoc(), dx, {}, g.lead.size(), {},
                                   tensorTypeOf(getDx()), getSum())
                   : dx};
}

//===----------------------------------------------------------------------===//
// Gradient with respect to weights and bias
//===----------------------------------------------------------------------===//

SmallVector<Value> ConvolutionBackwardWeightsOp::buildNests(OpBuilder &b) {
  ConvolutionShapes g(*this, shapeOf(getX()), shapeOf(getDy()), getGroup());
  SmallVector<Value> results = {buildBackwardWeights(
      b, getLoc(), g, getX(), getDy(), tensorTypeOf(getDw()))};
  if (!getDb())
    return results;

  results.push_back(buildBiasGradient(b, getLoc(), getDy(), g.lead.size(),
                                      tensorTypeOf(getDb())));
  return results;
}

//===----------------------------------------------------------------------===//
// Deconvolution
//===----------------------------------------------------------------------===//

LogicalResult DeconvolutionOp::inferShapes(Shapes &tops, Shapes &params) {
  if (failed(resolveWindow(*this)))
    return failure();
  int64_t channels = shapeOf(getX())[getAxis()], outputs = getNumOutput(),
          group = getGroup();
  if (failed(checkGroups(*this, channels, outputs, group)))
    return failure();
  FailureOr<SmallVector<int64_t>> y = deconvolvedShape(*this, outputs);
  if (failed(y))
    return failure();
  tops.push_back(*y);
  params.push_back(joined<int64_t>({channels}, outputs / group, getKernel()));
  return success();
}

/// The gradients are those of the transposed convolution, with x and y
/// exchanged.
LogicalResult
DeconvolutionOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                                ArrayRef<bool> needed,
                                MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  if (needed[1])
    operandGradients[1] = ConvolutionBackwardWeightsOp::create(
                              b, getLoc(), getW().getType(), Type(), dy, getX(),
                              getLayerAttr(), getKernelAttr(), getStrideAttr(),
                              getPadAttr(), getDilationAttr(), getGroupAttr())
                              .getDw();
  if (needed[0]) {
    int64_t channels = shapeOf(getW())[0];
    operandGradients[0] = ConvolutionOp::create(
        b, getLoc(), getX().getType(), dy, getW(), Value(), getLayerAttr(),
        b.getStrArrayAttr({}), nullptr, nullptr, b.getI64IntegerAttr(channels),
        getKernelAttr(), getStrideAttr(), getPadAttr(), getDilationAttr(),
        getGroupAttr(), nullptr, getAxisAttr(), nullptr, nullptr, nullptr);
  }
  return success();
}

SmallVector<Value> DeconvolutionOp::buildNests(OpBuilder &b) {
  ConvolutionShapes g(*this, shapeOf(getY()), shapeOf(getX()), getGroup());
  return {
      buildBackwardData(b, getLoc(), g, getX(), getW(), tensorTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/convolution/Convolution.cpp.inc"

void brew::dialects::registerConvolutionLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/convolution/Convolution.cpp.inc"
      >();
}
