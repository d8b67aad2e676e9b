//===- Convolution.cpp - brew.convolution and its gradients ---------------===//
//
// Formulas, with x [N,C,H,W], w [K,C/G,R,S], y [N,K,P,Q]:
//   y[n,k,p,q] = b[k] + sum_{c,r,s} w[k,c,r,s] *
//                x[n, g*C/G + c, p*stride - pad + r*dilation, ...]
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
  SmallVector<int64_t> add(ArrayRef<int64_t> added, bool isReduction) {
    SmallVector<int64_t> loops;
    for (int64_t extent : added)
      loops.push_back(add(extent, isReduction));
    return loops;
  }
};

/// Returns {first..., middle, last...}.
template <typename T>
SmallVector<T> concatenate(ArrayRef<T> first, T middle, ArrayRef<T> last) {
  SmallVector<T> values(first);
  values.push_back(middle);
  values.append(last.begin(), last.end());
  return values;
}

SmallVector<Value> loopValues(NestBuilder::Body &body,
                              ArrayRef<int64_t> loops) {
  SmallVector<Value> values;
  for (int64_t loop : loops)
    values.push_back(body.loop(loop));
  return values;
}

/// The index of a channel, divided into blocks if the weights are packed.
struct ChannelIndex {
  Value channel;
  int64_t block = 1; ///< divides the channels of a group
  Value number;      ///< of the block that contains the channel

  ChannelIndex(ScalarBuilder &s, Value channel, int64_t block)
      : channel(channel), block(block),
        number(block == 1 ? channel : s.divi(channel, block)) {}

  /// Builds the number of the channel's group of `size` channels.
  Value group(ScalarBuilder &s, int64_t size) const {
    return size == block ? number : s.divi(number, size / block);
  }
  /// Builds the indices in packed weights of the channel in its group of `size`
  /// channels; `isWhole` if there is one group.
  SmallVector<Value> withinGroup(ScalarBuilder &s, int64_t size,
                                 bool isWhole) const {
    const Value blockNumber = isWhole         ? number
                              : size == block ? s.index(0)
                                              : s.remi(number, size / block);
    if (block == 1)
      return {blockNumber};
    return {blockNumber, s.remi(channel, block)};
  }
};

/// Builds the index of channel number `inside` of the group to which channel
/// `opposite` of the opposite blob belongs. A group has `size` channels in the
/// first blob and `perGroup` channels in the opposite one.
Value channelInGroup(ScalarBuilder &s, const ConvolutionShapes &shapes,
                     const ChannelIndex &opposite, int64_t perGroup,
                     Value inside, int64_t size) {
  if (shapes.group == 1)
    return inside;
  const Value group = opposite.group(s, perGroup);
  return size == 1 ? group : s.addi(inside, s.muli(group, size));
}

/// Returns the channels in a block of packed weights with the blocks' channels
/// in dimension `dim`; 1 for other weights.
int64_t channelsInBlock(Value w, const ConvolutionShapes &shapes, int64_t dim) {
  const ArrayRef<int64_t> shape = shapeOf(w);
  return shape.size() == shapes.axes.size() + 3 ? shape[dim] : 1;
}
} // namespace

//===----------------------------------------------------------------------===//
// The three computations
//===----------------------------------------------------------------------===//

/// Builds a forward convolution without bias.
static Value buildForward(OpBuilder &b, Location loc,
                          const ConvolutionShapes &shapes, Value x, Value w,
                          RankedTensorType type) {
  Loops loops;
  SmallVector<int64_t> n = loops.add(shapes.lead, false);
  int64_t k = loops.add(shapes.k, false);
  SmallVector<int64_t> p = loops.add(shapes.outputs(), false);
  int64_t c = loops.add(shapes.c / shapes.group, true);
  SmallVector<int64_t> r = loops.add(shapes.kernels(), true);
  const int64_t block = channelsInBlock(w, shapes, 1);
  NestBuilder nest(b, loc, loops.extents, loops.reduction);
  if (block == 1)
    nest.input(w, concatenate<int64_t>({k}, c, r));
  nest.output(type, concatenate<int64_t>(n, k, p), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    const ChannelIndex output(s, body.loop(k), block);
    Value weight;
    if (block > 1) {
      SmallVector<Value> position =
          output.withinGroup(s, shapes.k, /*isWhole=*/true);
      position.push_back(body.loop(c));
      position.append(loopValues(body, r));
      weight = body.read(w, position);
    } else {
      weight = body.in[0];
    }
    Value valid;
    SmallVector<Value> indices = loopValues(body, n);
    indices.push_back(channelInGroup(s, shapes, output, shapes.k / shapes.group,
                                     body.loop(c), shapes.c / shapes.group));
    for (auto [i, axis] : llvm::enumerate(shapes.axes))
      indices.push_back(
          tapPosition(s, axis, body.loop(p[i]), body.loop(r[i]), valid));
    Value element = orZero(s, valid, body.read(x, indices));
    return {s.accumulate(body.out[0], s.mul(element, weight))};
  })[0];
}

/// Builds the gradient with respect to the bottom, which is also a
/// deconvolution.
static Value buildBackwardData(OpBuilder &b, Location loc,
                               const ConvolutionShapes &shapes, Value dy,
                               Value w, RankedTensorType type) {
  Loops loops;
  SmallVector<int64_t> n = loops.add(shapes.lead, false);
  int64_t c = loops.add(shapes.c, false);
  SmallVector<int64_t> h = loops.add(shapes.inputs(), false);
  int64_t k = loops.add(shapes.k / shapes.group, true);
  SmallVector<int64_t> shift;
  for (const WindowAxis &axis : shapes.axes)
    shift.push_back(loops.add(coveringWindows(axis), true));
  NestBuilder nest(b, loc, loops.extents, loops.reduction);
  nest.output(type, concatenate<int64_t>(n, c, h), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    int64_t perGroup = shapes.c / shapes.group;
    const ChannelIndex input(s, body.loop(c), channelsInBlock(w, shapes, 2));
    Value valid;
    SmallVector<Value> indices = loopValues(body, n);
    indices.push_back(channelInGroup(s, shapes, input, perGroup, body.loop(k),
                                     shapes.k / shapes.group));
    SmallVector<Value> weight = {indices.back()};
    weight.append(
        input.withinGroup(s, perGroup, /*isWhole=*/shapes.group == 1));
    for (auto [i, axis] : llvm::enumerate(shapes.axes)) {
      Value tap;
      indices.push_back(coveringWindow(s, axis, body.loop(h[i]),
                                       body.loop(shift[i]), tap, valid));
      weight.push_back(tapMayExceedKernel(axis) ? s.clamp(tap, axis.kernel)
                                                : tap);
    }
    Value product = s.mul(body.read(dy, indices), body.read(w, weight));
    return {s.accumulate(body.out[0], orZero(s, valid, product))};
  })[0];
}

/// Builds the gradient with respect to the weights.
static Value buildBackwardWeights(OpBuilder &b, Location loc,
                                  const ConvolutionShapes &shapes, Value x,
                                  Value dy, RankedTensorType type) {
  Loops loops;
  int64_t k = loops.add(shapes.k, false);
  int64_t c = loops.add(shapes.c / shapes.group, false);
  SmallVector<int64_t> r = loops.add(shapes.kernels(), false);
  SmallVector<int64_t> n = loops.add(shapes.lead, true);
  SmallVector<int64_t> p = loops.add(shapes.outputs(), true);
  NestBuilder nest(b, loc, loops.extents, loops.reduction);
  nest.input(dy, concatenate<int64_t>(n, k, p));
  nest.output(type, concatenate<int64_t>({k}, c, r), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value valid;
    SmallVector<Value> indices = loopValues(body, n);
    indices.push_back(channelInGroup(
        s, shapes, ChannelIndex(s, body.loop(k), /*block=*/1),
        shapes.k / shapes.group, body.loop(c), shapes.c / shapes.group));
    for (auto [i, axis] : llvm::enumerate(shapes.axes))
      indices.push_back(
          tapPosition(s, axis, body.loop(p[i]), body.loop(r[i]), valid));
    Value element = orZero(s, valid, body.read(x, indices));
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
  params.push_back(
      concatenate<int64_t>({outputs}, channels / group, getKernel()));
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
  ConvolutionShapes shapes(*this, shapeOf(getX()), shapeOf(getY()), getGroup());
  Value sum =
      buildForward(b, getLoc(), shapes, getX(), getW(), tensorTypeOf(getY()));
  return {buildEpilogue(b, getLoc(), sum, getB(), shapes.lead.size(), getRelu(),
                        tensorTypeOf(getY()))};
}

SmallVector<Value> ConvolutionSumOp::buildNests(OpBuilder &b) {
  ConvolutionShapes shapes(*this, shapeOf(getX()), shapeOf(getY()), getGroup());
  Value product =
      buildForward(b, getLoc(), shapes, getX(), getW(), tensorTypeOf(getY()));
  return {buildEpilogue(b, getLoc(), product, getB(), shapes.lead.size(),
                        getRelu(), tensorTypeOf(getY()), getSum())};
}

//===----------------------------------------------------------------------===//
// Gradient with respect to the bottom
//===----------------------------------------------------------------------===//

SmallVector<Value> ConvolutionBackwardDataOp::buildNests(OpBuilder &b) {
  ConvolutionShapes shapes(*this, shapeOf(getDx()), shapeOf(getDy()),
                           getGroup());
  Value dx = buildBackwardData(b, getLoc(), shapes, getDy(), getW(),
                               tensorTypeOf(getDx()));
  return {getSum() ? buildEpilogue(b, getLoc(), dx, {}, shapes.lead.size(), {},
                                   tensorTypeOf(getDx()), getSum())
                   : dx};
}

//===----------------------------------------------------------------------===//
// Gradient with respect to weights and bias
//===----------------------------------------------------------------------===//

SmallVector<Value> ConvolutionBackwardWeightsOp::buildNests(OpBuilder &b) {
  ConvolutionShapes shapes(*this, shapeOf(getX()), shapeOf(getDy()),
                           getGroup());
  SmallVector<Value> results = {buildBackwardWeights(
      b, getLoc(), shapes, getX(), getDy(), tensorTypeOf(getDw()))};
  if (!getDb())
    return results;

  results.push_back(buildBiasGradient(b, getLoc(), getDy(), shapes.lead.size(),
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
  params.push_back(
      concatenate<int64_t>({channels}, outputs / group, getKernel()));
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
  ConvolutionShapes shapes(*this, shapeOf(getY()), shapeOf(getX()), getGroup());
  return {buildBackwardData(b, getLoc(), shapes, getX(), getW(),
                            tensorTypeOf(getY()))};
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
