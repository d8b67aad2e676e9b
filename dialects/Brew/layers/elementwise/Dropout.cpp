//===- Dropout.cpp - Dropout in training ----------------------------------===//
#include "dialects/Brew/RandomBits.h"
#include "dialects/Brew/layers/elementwise/Neuron.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

LogicalResult DropoutOp::inferShapes(Shapes &tops, Shapes &) {
  tops.emplace_back(shapeOf(getX()));
  return success();
}

/// The gradient is multiplied by the same mask as the bottom.
LogicalResult DropoutOp::buildGradients(OpBuilder &b,
                                        ArrayRef<Value> resultGradients,
                                        ArrayRef<bool> needed,
                                        MutableArrayRef<Value> gradients) {
  if (needed[0])
    gradients[0] =
        DropoutOp::create(b, getLoc(), getX().getType(), resultGradients[0],
                          getKey(), getLayerAttr(), b.getArrayAttr({}), nullptr,
                          nullptr, getRatioAttr(), getUnscaledAttr());
  return success();
}

SmallVector<Value> DropoutOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  double ratio = getRatio().convertToFloat();
  double scale = getUnscaled() ? 1 : 1 / (1 - ratio);
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  Value key = getKey();
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    Value bits = randomBits(body, key, elementNumber(body, type.getShape()));
    // The number of the 2^32 equally likely words that drop an element.
    auto dropped = static_cast<uint32_t>(ratio * 0x1p32);
    Value keep = arith::CmpIOp::create(
        s.b, s.loc, arith::CmpIPredicate::uge, bits,
        arith::ConstantOp::create(
            s.b, s.loc, s.b.getI32IntegerAttr(static_cast<int32_t>(dropped))));
    return {s.select(keep, s.mul(body.in[0], s.constant(element, scale)),
                     s.constant(element, 0))};
  });
}
