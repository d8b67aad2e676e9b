//===- Convolution.cpp - brew.convolution and its gradients
//----------------===//
//
// Formulas, with x [N,C,H,W], w [K,C/G,R,S], y [N,K,P,Q]:
//   y[n,k,p,q]  = b[k] + sum_{c,r,s} x[n, g*C/G + c, p*stride - pad +
//   r*dilation, ...] w[k,c,r,s]
// where g = k / (K/G) is k's group. The gradients gather: every element of dx
// and dw sums the products it takes part in.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/Convolution.h"
#include "dialects/Brew/Nest.h"
#include "dialects/Brew/layers/LayerGroup.h"

using namespace mlir;
using namespace brew::ir;

namespace {
/// The numbers all three computations share.
struct Geometry {
  int64_t n, c, h, w, k, p, q, r, s, group;
  int64_t strideH, strideW, padH, padW, dilationH, dilationW;

  template <typename Op>
  Geometry(Op op, ArrayRef<int64_t> x, ArrayRef<int64_t> y)
      : n(x[0]), c(x[1]), h(x[2]), w(x[3]), k(y[1]), p(y[2]), q(y[3]),
        r(op.getKernel()[0]), s(op.getKernel()[1]), group(op.getGroup()),
        strideH(op.getStride()[0]), strideW(op.getStride()[1]),
        padH(op.getPad()[0]), padW(op.getPad()[1]),
        dilationH(op.getDilation()[0]), dilationW(op.getDilation()[1]) {}

  int64_t flops() const { return 2 * n * k * p * q * (c / group) * r * s; }
};

/// Row or column of x that output position `out` reads at kernel position
/// `tap`.
Value inputPosition(Scalars &s, Value out, Value tap, int64_t stride,
                    int64_t pad, int64_t dilation) {
  Value position = s.addi(s.muli(out, stride), s.muli(tap, dilation));
  return pad ? s.subi(position, s.index(pad)) : position;
}

/// Whether `position` is in [0, extent).
Value inside(Scalars &s, Value position, int64_t extent) {
  return s.both(s.atLeast(position, s.index(0)),
                s.less(position, s.index(extent)));
}
} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

LogicalResult ConvolutionOp::inferShapes(Shapes &tops, Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.size() != 4)
    return layerError(*this) << "bottom has " << x.size()
                             << " dimensions; a convolution without axes of "
                                "its own needs 4 (N, C, H, W)";
  int64_t group = getGroup(), outputs = getNumOutput();
  if (x[1] % group)
    return layerError(*this)
           << "bottom has " << x[1] << " channels, which group " << group
           << " does not divide";
  if (outputs % group)
    return layerError(*this) << "num_output " << outputs
                             << " is not a multiple of group " << group;
  SmallVector<int64_t> y = {x[0], outputs};
  for (int i = 0; i < 2; ++i) {
    int64_t extent = getDilation()[i] * (getKernel()[i] - 1) + 1;
    int64_t padded = x[2 + i] + 2 * getPad()[i];
    if (extent > padded)
      return layerError(*this)
             << "kernel " << (i ? "width " : "height ") << extent
             << (getDilation()[i] > 1 ? " (dilated)" : "")
             << " is larger than the padded input "
             << (i ? "width " : "height ") << padded;
    y.push_back((padded - extent) / getStride()[i] + 1);
  }
  tops.push_back(y);
  params.push_back({outputs, x[1] / group, getKernel()[0], getKernel()[1]});
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
        b, getLoc(), getX().getType(), dy, getW(), getLayerAttr(),
        getKernelAttr(), getStrideAttr(), getPadAttr(), getDilationAttr(),
        getGroupAttr());
  return success();
}

SmallVector<Value> ConvolutionOp::buildGeneric(OpBuilder &b) {
  Geometry g(*this, shapeOf(getX()), shapeOf(getY()));
  bool padded = g.padH || g.padW;
  // Loops: n k p q | c r s
  Nest nest(b, getLoc(), {g.n, g.k, g.p, g.q, g.c / g.group, g.r, g.s},
            {false, false, false, false, true, true, true});
  nest.input(getW(), {1, 4, 5, 6});
  nest.output(tensorOf(getY()), {0, 1, 2, 3}, 0.0);
  Value x = getX();
  Value sum = nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value row = inputPosition(s, body.loop(2), body.loop(5), g.strideH, g.padH,
                              g.dilationH);
    Value column = inputPosition(s, body.loop(3), body.loop(6), g.strideW,
                                 g.padW, g.dilationW);
    Value channel = body.loop(4);
    if (g.group > 1)
      channel = s.addi(
          channel, s.muli(s.divi(body.loop(1), g.k / g.group), g.c / g.group));
    Value element;
    if (padded) {
      Value valid = s.both(inside(s, row, g.h), inside(s, column, g.w));
      element = body.read(
          x, {body.loop(0), channel, s.clamp(row, g.h), s.clamp(column, g.w)});
      element = s.select(valid, element, s.constant(element.getType(), 0));
    } else {
      element = body.read(x, {body.loop(0), channel, row, column});
    }
    return {s.accumulate(body.out[0], s.mul(element, body.in[0]))};
  })[0];
  if (!getB() && !getRelu())
    return {sum};

  Nest finish(b, getLoc(), {g.n, g.k, g.p, g.q});
  finish.input(sum, {0, 1, 2, 3});
  if (getB())
    finish.input(getB(), {1});
  finish.output(tensorOf(getY()), {0, 1, 2, 3});
  return finish.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value y = body.in[0];
    if (getB())
      y = s.add(y, body.in[1]);
    if (auto slope = getRelu())
      y = s.select(s.greater(y, s.constant(y.getType(), 0)), y,
                   s.mul(y, s.constant(y.getType(), slope->convertToFloat())));
    return {y};
  });
}

StringRef ConvolutionOp::libraryGroup() { return "conv"; }
int64_t ConvolutionOp::countFlops() {
  return Geometry(*this, shapeOf(getX()), shapeOf(getY())).flops();
}

//===----------------------------------------------------------------------===//
// Gradient by the bottom
//===----------------------------------------------------------------------===//

SmallVector<Value> ConvolutionBackwardDataOp::buildGeneric(OpBuilder &b) {
  Geometry g(*this, shapeOf(getDx()), shapeOf(getDy()));
  int64_t outputs = g.k / g.group;
  // Loops: n c h w | k (within the group) r s
  Nest nest(b, getLoc(), {g.n, g.c, g.h, g.w, outputs, g.r, g.s},
            {false, false, false, false, true, true, true});
  nest.output(tensorOf(getDx()), {0, 1, 2, 3}, 0.0);
  Value dy = getDy(), w = getW();
  return nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    // Output position p with p * stride == position, if there is one.
    auto outputPosition = [&](unsigned loop, unsigned tap, int64_t stride,
                              int64_t pad, int64_t dilation, int64_t extent,
                              Value &valid) {
      Value position = s.subi(s.addi(body.loop(loop), s.index(pad)),
                              s.muli(body.loop(tap), dilation));
      Value isInside = s.both(s.atLeast(position, s.index(0)),
                              s.less(position, s.index(extent * stride)));
      Value clamped = s.clamp(position, extent * stride);
      Value quotient = s.divi(clamped, stride);
      if (stride > 1)
        isInside =
            s.both(isInside, s.equali(s.remi(clamped, stride), s.index(0)));
      valid = valid ? s.both(valid, isInside) : isInside;
      return quotient;
    };
    Value valid;
    Value p = outputPosition(2, 5, g.strideH, g.padH, g.dilationH, g.p, valid);
    Value q = outputPosition(3, 6, g.strideW, g.padW, g.dilationW, g.q, valid);
    Value k = body.loop(4), c = body.loop(1);
    if (g.group > 1) {
      k = s.addi(k, s.muli(s.divi(c, g.c / g.group), outputs));
      c = s.remi(c, g.c / g.group);
    }
    Value product = s.mul(body.read(dy, {body.loop(0), k, p, q}),
                          body.read(w, {k, c, body.loop(5), body.loop(6)}));
    product = s.select(valid, product, s.constant(product.getType(), 0));
    return {s.accumulate(body.out[0], product)};
  });
}

StringRef ConvolutionBackwardDataOp::libraryGroup() { return "conv"; }
int64_t ConvolutionBackwardDataOp::countFlops() {
  return Geometry(*this, shapeOf(getDx()), shapeOf(getDy())).flops();
}

//===----------------------------------------------------------------------===//
// Gradient by weights and bias
//===----------------------------------------------------------------------===//

SmallVector<Value> ConvolutionBackwardWeightsOp::buildGeneric(OpBuilder &b) {
  Geometry g(*this, shapeOf(getX()), shapeOf(getDy()));
  bool padded = g.padH || g.padW;
  Value x = getX();
  // Loops: k c r s | n p q
  Nest nest(b, getLoc(), {g.k, g.c / g.group, g.r, g.s, g.n, g.p, g.q},
            {false, false, false, false, true, true, true});
  nest.input(getDy(), {4, 0, 5, 6});
  nest.output(tensorOf(getDw()), {0, 1, 2, 3}, 0.0);
  SmallVector<Value> results =
      nest.build([&](Nest::Body &body) -> SmallVector<Value> {
        Scalars &s = body.s;
        Value row = inputPosition(s, body.loop(5), body.loop(2), g.strideH,
                                  g.padH, g.dilationH);
        Value column = inputPosition(s, body.loop(6), body.loop(3), g.strideW,
                                     g.padW, g.dilationW);
        Value channel = body.loop(1);
        if (g.group > 1)
          channel = s.addi(channel, s.muli(s.divi(body.loop(0), g.k / g.group),
                                           g.c / g.group));
        Value element = body.read(x, {body.loop(4), channel,
                                      padded ? s.clamp(row, g.h) : row,
                                      padded ? s.clamp(column, g.w) : column});
        if (padded) {
          Value valid = s.both(inside(s, row, g.h), inside(s, column, g.w));
          element = s.select(valid, element, s.constant(element.getType(), 0));
        }
        return {s.accumulate(body.out[0], s.mul(element, body.in[0]))};
      });
  if (!getDb())
    return results;

  Nest bias(b, getLoc(), {g.k, g.n, g.p, g.q}, {false, true, true, true});
  bias.input(getDy(), {1, 0, 2, 3});
  bias.output(tensorOf(getDb()), {0}, 0.0);
  results.append(bias.build([&](Nest::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.in[0])};
  }));
  return results;
}

StringRef ConvolutionBackwardWeightsOp::libraryGroup() { return "conv"; }
int64_t ConvolutionBackwardWeightsOp::countFlops() {
  return Geometry(*this, shapeOf(getX()), shapeOf(getDy())).flops();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Convolution.cpp.inc"

void brew::ir::registerConvolutionLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/Convolution.cpp.inc"
      >();
}
