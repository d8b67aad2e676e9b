//===- LRN.cpp - Local response normalisation -----------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/normalization/Normalization.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The window around an element: `size` positions along some dimensions.
struct Window {
  Window(int64_t size, bool withinChannel)
      : size(size), dims(withinChannel ? SmallVector<int64_t>{2, 3}
                                       : SmallVector<int64_t>{1}) {}

  int64_t size;
  SmallVector<int64_t> dims;

  int64_t positions() const { return dims.size() == 2 ? size * size : size; }

  /// Returns a nest with loops over the elements of (N, C, H, W), then over the
  /// window.
  NestBuilder nest(OpBuilder &b, Location loc, ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> extents(shape);
    SmallVector<bool> reduction(shape.size(), false);
    for (size_t i = 0; i < dims.size(); ++i) {
      extents.push_back(size);
      reduction.push_back(true);
    }
    return NestBuilder(b, loc, extents, reduction);
  }

  /// Builds `element` of the indices of the current position in the window, or
  /// 0 outside of `shape`.
  Value elementOrZero(const NestBuilder::Body &body, ArrayRef<int64_t> shape,
                      function_ref<Value(ValueRange)> element) const {
    ScalarBuilder s = body.s;
    SmallVector<Value> indices;
    for (int64_t dim : iota(shape.size()))
      indices.push_back(body.loop(dim));
    Value inside;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      Value position = s.subi(s.addi(indices[dim], body.loop(shape.size() + i)),
                              s.index((size - 1) / 2));
      Value isInside = s.both(s.atLeast(position, s.index(0)),
                              s.less(position, s.index(shape[dim])));
      inside = inside ? s.both(inside, isInside) : isInside;
      indices[dim] = s.clamp(position, shape[dim]);
    }
    Value value = element(indices);
    return s.select(inside, value, s.constant(value.getType(), 0));
  }

  /// Builds the sums of squares of `x` around each element, a tensor of `type`.
  Value buildSquares(OpBuilder &b, Location loc, Value x,
                     RankedTensorType type) const {
    NestBuilder sums = nest(b, loc, type.getShape());
    sums.output(type, iota(4), 0.0);
    return sums.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      Value square =
          elementOrZero(body, type.getShape(), [&](ValueRange indices) {
            Value element = body.read(x, indices);
            return body.s.mul(element, element);
          });
      return {body.s.accumulate(body.out[0], square)};
    })[0];
  }

  /// Builds the scale from a sum of squares, alpha and k.
  Value buildScale(ScalarBuilder &s, Value squares, const APFloat &alpha,
                   const APFloat &k) const {
    Type type = squares.getType();
    return s.add(
        s.constant(type, k.convertToFloat()),
        s.mul(squares, s.constant(type, alpha.convertToFloat() / positions())));
  }
};

/// Builds scale ^ -beta. Roots are faster than powers, and exact.
Value power(ScalarBuilder &s, Value scale, double beta) {
  Type type = scale.getType();
  Value one = s.constant(type, 1);
  if (beta == 1)
    return s.div(one, scale);
  if (beta == 0.5 || beta == 0.75) {
    Value root = math::SqrtOp::create(s.b, s.loc, scale);
    if (beta == 0.75)
      root = s.mul(root, math::SqrtOp::create(s.b, s.loc, root));
    return s.div(one, root);
  }
  return math::PowFOp::create(s.b, s.loc, scale, s.constant(type, -beta));
}

} // namespace

LogicalResult LRNOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.size() != 4)
    return layerError(*this)
           << "LRN needs a bottom of 4 dimensions (N, C, H, W), not "
           << x.size();
  tops.emplace_back(x);
  return success();
}

LogicalResult LRNOp::buildGradients(OpBuilder &b,
                                    ArrayRef<Value> resultGradients,
                                    ArrayRef<bool>,
                                    MutableArrayRef<Value> gradients) {
  if (Value dy = resultGradients[0])
    gradients[0] = LRNBackwardOp::create(b, getLoc(), getX().getType(), getX(),
                                         dy, getLayerAttr(), getSizeAttr(),
                                         getAlphaAttr(), getBetaAttr(),
                                         getKAttr(), getWithinChannelAttr());
  return success();
}

SmallVector<Value> LRNOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  SmallVector<int64_t> allDims = iota(4);
  Window window(getSize(), getWithinChannel());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), allDims);
  nest.input(window.buildSquares(b, getLoc(), getX(), type), allDims);
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value scale = window.buildScale(body.s, body.in[1], getAlpha(), getK());
    return {body.s.mul(body.in[0],
                       power(body.s, scale, getBeta().convertToFloat()))};
  });
}

SmallVector<Value> LRNBackwardOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getDx());
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> allDims = iota(4);
  Window window(getSize(), getWithinChannel());
  const double beta = getBeta().convertToFloat();

  // Builds dy * y / scale, and the factor y / x.
  NestBuilder ratios(b, getLoc(), shape);
  ratios.input(getX(), allDims);
  ratios.input(getDy(), allDims);
  ratios.input(window.buildSquares(b, getLoc(), getX(), type), allDims);
  ratios.output(type, allDims);
  ratios.output(type, allDims);
  auto ratioAndFactor =
      ratios.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value scale = window.buildScale(s, body.in[2], getAlpha(), getK());
        Value factor = power(s, scale, beta);
        Value y = s.mul(body.in[0], factor);
        return {s.div(s.mul(body.in[1], y), scale), factor};
      });
  Value ratio = ratioAndFactor[0], factor = ratioAndFactor[1];

  NestBuilder sums = window.nest(b, getLoc(), shape);
  sums.output(type, allDims, 0.0);
  Value sum = sums.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value element = window.elementOrZero(body, shape, [&](ValueRange indices) {
      return body.read(ratio, indices);
    });
    return {body.s.accumulate(body.out[0], element)};
  })[0];

  const double aroundFactor =
      2 * getAlpha().convertToFloat() * beta / window.positions();
  NestBuilder nest(b, getLoc(), shape);
  for (Value value : {Value(getX()), Value(getDy()), factor, sum})
    nest.input(value, allDims);
  nest.output(type, allDims);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value direct = s.mul(body.in[1], body.in[2]);
    Value around = s.mul(s.mul(body.in[0], body.in[3]),
                         s.constant(type.getElementType(), aroundFactor));
    return {s.sub(direct, around)};
  });
}
