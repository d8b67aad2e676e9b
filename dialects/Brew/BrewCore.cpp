//===- BrewCore.cpp - Layers that passes refer to by name -----------------===//
#include "dialects/Brew/CommonNests.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// ReLU
//===----------------------------------------------------------------------===//

LogicalResult ReLUOp::inferShapes(Shapes &tops, Shapes &) {
  tops.emplace_back(shapeOf(getX()));
  return success();
}

Value ReLUOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  float slope = getNegativeSlope().convertToFloat();
  Value zero = s.constant(type, 0);
  Value negative = slope == 0 ? zero : s.mul(x[0], s.constant(type, slope));
  return s.select(s.greater(x[0], zero), x[0], negative);
}

Value ReLUOp::buildDerivativeFromResult(OpBuilder &b, Location loc, unsigned,
                                        Value y) {
  float slope = getNegativeSlope().convertToFloat();
  if (slope < 0)
    return {}; // y's sign does not determine x's
  ScalarBuilder s(b, loc);
  Type type = y.getType();
  return s.select(s.greater(y, s.constant(type, 0)), s.constant(type, 1),
                  s.constant(type, slope));
}

//===----------------------------------------------------------------------===//
// Split, Silence
//===----------------------------------------------------------------------===//

LogicalResult SplitOp::inferShapes(Shapes &tops, Shapes &) {
  for (unsigned i = 0; i < getNumResults(); ++i)
    tops.emplace_back(shapeOf(getX()));
  return success();
}

LogicalResult SplitOp::buildGradients(OpBuilder &b,
                                      ArrayRef<Value> resultGradients,
                                      ArrayRef<bool>,
                                      MutableArrayRef<Value> operandGradients) {
  Value sum;
  for (Value dy : resultGradients)
    if (dy)
      sum = sum ? buildSum(b, getLoc(), sum, dy) : dy;
  operandGradients[0] = sum;
  return success();
}

LogicalResult SplitOp::canonicalize(SplitOp op, PatternRewriter &rewriter) {
  rewriter.replaceOp(op, SmallVector<Value>(op->getNumResults(), op.getX()));
  return success();
}

LogicalResult SilenceOp::inferShapes(Shapes &, Shapes &) { return success(); }
