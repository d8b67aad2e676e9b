//===- Neuron.cpp - Activation functions ----------------------------------===//
#include "dialects/Brew/layers/elementwise/Neuron.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace brew::dialects;

// The tops of these layers have the shape of the bottom.
#define KEEPS_SHAPE(Op)                                                        \
  LogicalResult Op::inferShapes(Shapes &tops, Shapes &) {                      \
    tops.emplace_back(shapeOf(getX()));                                        \
    return success();                                                          \
  }
KEEPS_SHAPE(AbsValOp)
KEEPS_SHAPE(BNLLOp)
KEEPS_SHAPE(ClipOp)
KEEPS_SHAPE(ELUOp)
KEEPS_SHAPE(ExpOp)
KEEPS_SHAPE(HardSwishOp)
KEEPS_SHAPE(LogOp)
KEEPS_SHAPE(MishOp)
KEEPS_SHAPE(ReLU6Op)
KEEPS_SHAPE(SigmoidOp)
KEEPS_SHAPE(SwishOp)
KEEPS_SHAPE(TanHOp)
KEEPS_SHAPE(ThresholdOp)
#undef KEEPS_SHAPE

static double toDouble(const llvm::APFloat &value) {
  return value.convertToFloat();
}

//===----------------------------------------------------------------------===//
// AbsVal, Threshold
//===----------------------------------------------------------------------===//

Value AbsValOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  return math::AbsFOp::create(b, loc, x[0]);
}

LogicalResult ThresholdOp::buildGradients(OpBuilder &, ArrayRef<Value>,
                                          ArrayRef<bool>,
                                          MutableArrayRef<Value>) {
  return layerError(*this) << "Threshold has no gradient, but a parameter "
                              "before it needs one";
}

SmallVector<Value> ThresholdOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getX(), iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Type element = type.getElementType();
    return {s.select(
        s.greater(body.in[0], s.constant(element, toDouble(getThreshold()))),
        s.constant(element, 1), s.constant(element, 0))};
  });
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

/// exp(-|x|) is at most 1, so that nothing overflows; equal to Caffe's two
/// cases.
Value BNLLOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Value zero = s.constant(x[0].getType(), 0);
  Value positive = s.greater(x[0], zero);
  Value e = s.exp(s.select(positive, s.neg(x[0]), x[0]));
  return s.add(s.select(positive, x[0], zero),
               math::Log1pOp::create(b, loc, e));
}

/// Computes log(1 + exp(x)) like BNLL.
Value MishOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Value zero = s.constant(x[0].getType(), 0);
  Value positive = s.greater(x[0], zero);
  Value e = s.exp(s.select(positive, s.neg(x[0]), x[0]));
  Value softplus =
      s.add(s.select(positive, x[0], zero), math::Log1pOp::create(b, loc, e));
  return s.mul(x[0], math::TanhOp::create(b, loc, softplus));
}

/// The argument of exp is clamped to 0, so that the derivative of the
/// unselected side stays finite.
Value ELUOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  Value zero = s.constant(type, 0), one = s.constant(type, 1);
  Value positive = s.greater(x[0], zero);
  Value e = s.exp(s.select(positive, zero, x[0]));
  return s.select(positive, x[0],
                  s.mul(s.constant(type, toDouble(getAlpha())), s.sub(e, one)));
}

Value ELUOp::buildDerivativeFromResult(OpBuilder &b, Location loc, unsigned,
                                       Value y) {
  if (toDouble(getAlpha()) < 0)
    return {}; // y's sign does not determine x's
  ScalarBuilder s(b, loc);
  Type type = y.getType();
  return s.select(s.greater(y, s.constant(type, 0)), s.constant(type, 1),
                  s.add(y, s.constant(type, toDouble(getAlpha()))));
}

/// Returns the natural logarithm of a base, e by default.
static double logOfBase(std::optional<llvm::APFloat> base) {
  return base ? std::log(toDouble(*base)) : 1;
}

Value ExpOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  double log = logOfBase(getBase());
  Value e = s.exp(s.mul(x[0], s.constant(type, log * toDouble(getScale()))));
  double outer = std::exp(log * toDouble(getShift()));
  return outer == 1 ? e : s.mul(e, s.constant(type, outer));
}

Value ExpOp::buildDerivativeFromResult(OpBuilder &b, Location loc, unsigned,
                                       Value y) {
  ScalarBuilder s(b, loc);
  return s.mul(
      y, s.constant(y.getType(), logOfBase(getBase()) * toDouble(getScale())));
}

Value LogOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  Value inner = x[0];
  if (toDouble(getScale()) != 1)
    inner = s.mul(inner, s.constant(type, toDouble(getScale())));
  if (toDouble(getShift()) != 0)
    inner = s.add(inner, s.constant(type, toDouble(getShift())));
  Value y = s.log(inner);
  double log = logOfBase(getBase());
  return log == 1 ? y : s.mul(y, s.constant(type, 1 / log));
}

//===----------------------------------------------------------------------===//
// Sigmoids
//===----------------------------------------------------------------------===//

/// Uses tanh like Caffe, so that no exponential overflows.
static Value sigmoid(ScalarBuilder &s, Value x) {
  Value half = s.constant(x.getType(), 0.5);
  Value t = math::TanhOp::create(s.b, s.loc, s.mul(x, half));
  return s.add(s.mul(t, half), half);
}

Value SigmoidOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  return sigmoid(s, x[0]);
}

Value SigmoidOp::buildDerivativeFromResult(OpBuilder &b, Location loc, unsigned,
                                           Value y) {
  ScalarBuilder s(b, loc);
  return s.mul(y, s.sub(s.constant(y.getType(), 1), y));
}

Value SwishOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Value beta = s.constant(x[0].getType(), toDouble(getBeta()));
  return s.mul(x[0], sigmoid(s, s.mul(x[0], beta)));
}

Value TanHOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  return math::TanhOp::create(b, loc, x[0]);
}

Value TanHOp::buildDerivativeFromResult(OpBuilder &b, Location loc, unsigned,
                                        Value y) {
  ScalarBuilder s(b, loc);
  return s.sub(s.constant(y.getType(), 1), s.mul(y, y));
}

//===----------------------------------------------------------------------===//
// Piecewise linear and polynomial
//===----------------------------------------------------------------------===//

/// Clamps x to [min, max]. The derivative is 1 at both bounds.
static Value clip(ScalarBuilder &s, Value x, double min, double max) {
  Value low = s.constant(x.getType(), min), high = s.constant(x.getType(), max);
  Value below = s.select(s.greater(x, high), high, x);
  return s.select(s.greater(low, below), low, below);
}

Value ClipOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  return clip(s, x[0], toDouble(getMin()), toDouble(getMax()));
}

Value HardSwishOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  Value gate = clip(s, s.add(x[0], s.constant(type, 3)), 0, 6);
  return s.mul(s.mul(x[0], gate), s.constant(type, 1.0 / 6));
}

Value ReLU6Op::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  Type type = x[0].getType();
  double slope = toDouble(getNegativeSlope());
  Value zero = s.constant(type, 0), six = s.constant(type, 6);
  Value negative = slope == 0 ? zero : s.mul(x[0], s.constant(type, slope));
  return s.select(s.greater(x[0], zero),
                  s.select(s.greater(six, x[0]), x[0], six), negative);
}

Value ReLU6Op::buildDerivativeFromResult(OpBuilder &b, Location loc, unsigned,
                                         Value y) {
  double slope = toDouble(getNegativeSlope());
  if (slope < 0)
    return {}; // y's sign does not determine x's
  ScalarBuilder s(b, loc);
  Type type = y.getType();
  Value zero = s.constant(type, 0);
  Value isBelowSix = s.greater(s.constant(type, 6), y);
  return s.select(s.greater(y, zero),
                  s.select(isBelowSix, s.constant(type, 1), zero),
                  s.constant(type, slope));
}

LogicalResult PReLUOp::inferShapes(Shapes &tops, Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.size() < 2)
    return layerError(*this) << "PReLU needs a bottom of at least 2 dimensions "
                                "(N, C, ...), not "
                             << x.size();
  params.emplace_back(getChannelShared() ? ArrayRef<int64_t>() : x.slice(1, 1));
  tops.emplace_back(x);
  return success();
}

Value PReLUOp::buildScalar(OpBuilder &b, Location loc, ValueRange x) {
  ScalarBuilder s(b, loc);
  return s.select(s.greater(x[0], s.constant(x[0].getType(), 0)), x[0],
                  s.mul(x[1], x[0]));
}

int64_t PReLUOp::operandAxis(unsigned operandNumber) {
  return operandNumber && !getChannelShared() ? 1 : 0;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/elementwise/Neuron.cpp.inc"

void brew::dialects::registerNeuronLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/elementwise/Neuron.cpp.inc"
      >();
}
