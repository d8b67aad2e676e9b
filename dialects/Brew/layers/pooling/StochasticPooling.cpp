//===- StochasticPooling.cpp - Pooling of a random element ----------------===//
//
// Like Caffe's GPU code, chooses the first element of a window at which the
// running sum reaches a random fraction of the window's sum. Windows have no
// padding.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/RandomBits.h"
#include "dialects/Brew/layers/pooling/Pooling.h"
#include "dialects/Brew/layers/pooling/PoolingShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>

using namespace mlir;
using namespace brew::dialects;

namespace {
/// The nests over a layer's windows: n c p q | rows and columns of the window.
class Windows {
public:
  template <typename Op>
  explicit Windows(Op op)
      : x(op.getX()), rows(axisOf(op, 0, shapeOf(x), shapeOf(op.getY()))),
        columns(axisOf(op, 1, shapeOf(x), shapeOf(op.getY()))),
        extents(shapeOf(op.getY())) {
    extents.push_back(rows.kernel);
    extents.push_back(columns.kernel);
  }

  /// Reads the current element. `valid` stays null if the element is always
  /// inside of the input.
  Value readElement(NestBuilder::Body &body, Value &valid) const {
    ScalarBuilder &s = body.s;
    Value row = tapPosition(s, rows, body.loop(2), body.loop(4), valid);
    Value column = tapPosition(s, columns, body.loop(3), body.loop(5), valid);
    return body.read(x, {body.loop(0), body.loop(1), row, column});
  }
  Value buildTap(NestBuilder::Body &body, Type type) const {
    ScalarBuilder &s = body.s;
    Value tap = s.addi(s.muli(body.loop(4), columns.kernel), body.loop(5));
    return arith::IndexCastOp::create(s.b, s.loc, type, tap);
  }

  Value x;
  WindowAxis rows, columns;
  SmallVector<int64_t> extents;
};

template <typename Op> LogicalResult checkNoPadding(Op op) {
  if (llvm::any_of(op.getPad(), [](int64_t pad) { return pad > 0; }))
    return layerError(op) << "only MAX and AVE pooling can be padded";
  return success();
}
} // namespace

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

LogicalResult StochasticPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  SmallVector<int64_t> y;
  if (failed(poolShape(*this, y)) || failed(checkNoPadding(*this)))
    return failure();
  tops.assign({y, y});
  getChosen().setType(UnrankedTensorType::get(
      positionType(getContext(), getKernel()[0] * getKernel()[1])));
  return success();
}

LogicalResult StochasticPoolingOp::buildGradients(
    OpBuilder &b, ArrayRef<Value> resultGradients, ArrayRef<bool>,
    MutableArrayRef<Value> operandGradients) {
  if (Value dy = resultGradients[0])
    operandGradients[0] = MaxPoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getChosen(), getLayerAttr(),
        getKernelAttr(), getStrideAttr(), getPadAttr());
  return success();
}

SmallVector<Value> StochasticPoolingOp::buildNests(OpBuilder &b) {
  Windows windows(*this);
  auto type = tensorTypeOf(getY());
  Type element = type.getElementType();
  Value key = getKey();
  const int64_t grid[] = {0, 1, 2, 3};

  NestBuilder total(b, getLoc(), windows.extents, kWindowReduction);
  total.output(type, grid, 0.0);
  Value sum = total.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    Value valid, x = windows.readElement(body, valid);
    return {body.s.accumulate(body.out[0], orZero(body.s, valid, x))};
  })[0];
  NestBuilder draw(b, getLoc(), type.getShape());
  draw.input(sum, grid);
  draw.output(type, grid);
  Value threshold =
      draw.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        Value number = elementNumber(body, type.getShape());
        return {
            body.s.mul(body.in[0], randomUniform(body, key, number, element))};
      })[0];

  // The running sum is -FLT_MAX before the first element and FLT_MAX once the
  // threshold has been reached.
  NestBuilder choose(b, getLoc(), windows.extents, kWindowReduction);
  choose.input(threshold, grid);
  choose.output(type, grid, 0.0);
  choose.output(tensorTypeOf(getChosen()), grid, -1);
  choose.output(type, grid, -FLT_MAX);
  SmallVector<Value> results =
      choose.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value valid, x = windows.readElement(body, valid);
        Value previous = body.out[2], lowest = s.constant(element, -FLT_MAX);
        Value started = s.greater(previous, lowest);
        Value running = s.select(started, previous, s.constant(element, 0));
        Value next = arith::AddFOp::create(s.b, s.loc, running, x);
        Value isPending = s.greater(s.constant(element, FLT_MAX), previous);
        isPending = andIfAny(s, valid, isPending);
        Value reached = s.greaterEqual(next, body.in[0]);
        next = s.select(reached, s.constant(element, FLT_MAX), next);
        return {s.select(isPending, x, body.out[0]),
                s.select(isPending,
                         windows.buildTap(body, body.out[1].getType()),
                         body.out[1]),
                s.select(isPending, next, previous)};
      });
  results.pop_back();
  return results;
}

//===----------------------------------------------------------------------===//
// Testing
//===----------------------------------------------------------------------===//

LogicalResult WeightedPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(poolShape(*this, tops.emplace_back())))
    return failure();
  return checkNoPadding(*this);
}

LogicalResult WeightedPoolingOp::buildGradients(OpBuilder &, ArrayRef<Value>,
                                                ArrayRef<bool>,
                                                MutableArrayRef<Value>) {
  return layerError(*this)
         << "STOCHASTIC pooling has a gradient in the TRAIN phase only";
}

SmallVector<Value> WeightedPoolingOp::buildNests(OpBuilder &b) {
  Windows windows(*this);
  auto type = tensorTypeOf(getY());
  const int64_t grid[] = {0, 1, 2, 3};
  NestBuilder sums(b, getLoc(), windows.extents, kWindowReduction);
  sums.output(type, grid, 0.0);
  sums.output(type, grid, FLT_MIN);
  SmallVector<Value> windowSums =
      sums.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value valid, x = windows.readElement(body, valid);
        x = orZero(s, valid, x);
        return {s.accumulate(body.out[0], s.mul(x, x)),
                s.accumulate(body.out[1], x)};
      });
  NestBuilder mean(b, getLoc(), type.getShape());
  mean.input(windowSums[0], grid);
  mean.input(windowSums[1], grid);
  mean.output(type, grid);
  return mean.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.div(body.in[0], body.in[1])};
  });
}
