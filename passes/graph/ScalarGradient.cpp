//===- ScalarGradient.cpp - Derivatives of scalar expressions -------------===//
//
// Differentiates the arith/math operations of a layer's scalar expression. At
// kinks (compare and select) the result is the derivative of the selected
// branch.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/ScalarGradient.h"

#include "dialects/Brew/LayerDiagnostics.h"
#include "dialects/Brew/NestBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Maximal number of operands of a layer whose derivatives read all of them:
/// each has a copy of the expression.
constexpr unsigned kMaxOperands = 256;

/// Forward-mode derivatives of the values of one expression with respect to one
/// of its inputs. A select also selects the derivative: multiplying the other
/// branch by 0 instead would propagate its NaN, such as the derivative of sqrt
/// at a negative x.
class Derivatives {
public:
  Derivatives(ScalarBuilder &s, Value input)
      : s(s), one(s.constant(input.getType(), 1)) {
    derivatives[input] = one;
  }

  /// Returns the derivative of `value`; null stands for 0.
  Value get(Value value) const { return derivatives.lookup(value); }
  Value times(Value x, Value y) {
    if (x == one)
      return y;
    return y == one ? x : s.mul(x, y);
  }

  /// Builds the derivative of the result of `op` from those of its operands.
  /// Reports an error and fails if there is no derivative rule for `op`.
  LogicalResult visit(Operation *op);

private:
  Value constant(double value) { return s.constant(one.getType(), value); }
  Value sum(Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return s.add(x, y);
  }
  FailureOr<Value> unaryDerivative(Operation *op);
  Value powerDerivative(math::PowFOp op);

  ScalarBuilder &s;
  Value one;
  llvm::DenseMap<Value, Value> derivatives;
};

LogicalResult Derivatives::visit(Operation *op) {
  Value y = op->getResult(0);
  auto operand = [&](unsigned i) { return op->getOperand(i); };
  auto derivativeOf = [&](unsigned i) { return get(operand(i)); };
  if (llvm::none_of(op->getOperands(), [&](Value x) { return get(x); }) ||
      y.getType().isInteger(1))
    return success(); // independent of the input, or a condition
  Value result;
  if (isa<arith::AddFOp>(op)) {
    result = sum(derivativeOf(0), derivativeOf(1));
  } else if (isa<arith::SubFOp>(op)) {
    if (!derivativeOf(1))
      result = derivativeOf(0);
    else
      result = derivativeOf(0) ? s.sub(derivativeOf(0), derivativeOf(1))
                               : s.neg(derivativeOf(1));
  } else if (isa<arith::MulFOp>(op)) {
    result =
        sum(derivativeOf(0) ? times(derivativeOf(0), operand(1)) : Value(),
            derivativeOf(1) ? times(derivativeOf(1), operand(0)) : Value());
  } else if (isa<arith::DivFOp>(op)) {
    Value numerator = derivativeOf(0);
    if (derivativeOf(1)) {
      Value product = times(derivativeOf(1), y);
      numerator = numerator ? s.sub(numerator, product) : s.neg(product);
    }
    result = s.div(numerator, operand(1));
  } else if (isa<arith::SelectOp>(op)) {
    if (derivativeOf(1) || derivativeOf(2))
      result =
          s.select(operand(0), derivativeOf(1) ? derivativeOf(1) : constant(0),
                   derivativeOf(2) ? derivativeOf(2) : constant(0));
  } else if (isa<arith::NegFOp>(op)) {
    result = s.neg(derivativeOf(0));
  } else if (auto power = dyn_cast<math::PowFOp>(op)) {
    result = powerDerivative(power);
  } else if (op->getNumOperands() == 1) {
    FailureOr<Value> factor = unaryDerivative(op);
    if (failed(factor))
      return op->emitError("no derivative rule for this operation");
    result = *factor ? times(derivativeOf(0), *factor) : Value();
  } else {
    return op->emitError("no derivative rule for this operation");
  }
  derivatives[y] = result;
  return success();
}

/// Returns the derivative of a unary function, where null stands for 0, or
/// failure if there is no rule for it.
FailureOr<Value> Derivatives::unaryDerivative(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0);
  if (isa<math::ExpOp>(op))
    return y;
  if (isa<math::ExpM1Op>(op))
    return s.add(y, constant(1));
  if (isa<math::LogOp>(op))
    return s.div(constant(1), x);
  if (isa<math::Log1pOp>(op))
    return s.div(constant(1), s.add(constant(1), x));
  if (isa<math::TanhOp>(op))
    return s.sub(constant(1), s.mul(y, y));
  if (isa<math::SqrtOp>(op))
    return s.div(constant(0.5), y);
  if (isa<math::RsqrtOp>(op))
    return s.mul(constant(-0.5), s.mul(y, s.mul(y, y)));
  if (isa<math::SinOp>(op))
    return Value(math::CosOp::create(s.b, s.loc, x));
  if (isa<math::CosOp>(op))
    return s.neg(math::SinOp::create(s.b, s.loc, x));
  if (isa<math::TanOp>(op))
    return s.add(constant(1), s.mul(y, y));
  if (isa<math::SinhOp>(op))
    return Value(math::CoshOp::create(s.b, s.loc, x));
  if (isa<math::CoshOp>(op))
    return Value(math::SinhOp::create(s.b, s.loc, x));
  if (isa<math::AtanOp>(op))
    return s.div(constant(1), s.add(constant(1), s.mul(x, x)));
  if (isa<math::AsinOp, math::AcosOp>(op)) {
    Value root =
        math::SqrtOp::create(s.b, s.loc, s.sub(constant(1), s.mul(x, x)));
    return s.div(constant(isa<math::AsinOp>(op) ? 1 : -1), root);
  }
  if (isa<math::ErfOp>(op)) {
    const double factor = 2 / std::sqrt(std::acos(-1.0));
    return s.mul(constant(factor), s.exp(s.neg(s.mul(x, x))));
  }
  if (isa<math::AbsFOp>(op)) {
    // Caffe's sign: 0 at 0.
    Value zero = constant(0);
    return s.select(s.greater(x, zero), constant(1),
                    s.select(s.greater(zero, x), constant(-1), zero));
  }
  if (isa<math::FloorOp, math::CeilOp, math::RoundEvenOp>(op))
    return Value();
  return failure();
}

/// The derivatives of x ^ p: p * x ^ (p - 1) for x, and log(x) * x ^ p for p,
/// which is 0 at x = 0.
Value Derivatives::powerDerivative(math::PowFOp op) {
  Value x = op.getLhs(), p = op.getRhs(), y = op.getResult();
  Value byBase, byExponent;
  if (Value derivative = get(x)) {
    FloatAttr exponent;
    Value reducedExponent = matchPattern(p, m_Constant(&exponent))
                                ? constant(exponent.getValueAsDouble() - 1)
                                : s.sub(p, constant(1));
    byBase =
        times(derivative,
              s.mul(p, math::PowFOp::create(s.b, s.loc, x, reducedExponent)));
  }
  if (Value derivative = get(p)) {
    Value zero = constant(0);
    byExponent =
        times(derivative, s.select(s.equal(x, zero), zero, s.mul(y, s.log(x))));
  }
  return sum(byBase, byExponent);
}

} // namespace

FailureOr<Value> brew::passes::buildScalarGradient(OpBuilder &b,
                                                   ScalarBodyInterface op,
                                                   unsigned operandNumber,
                                                   Value resultGradient) {
  Value y = op->getResult(0), target = op->getOperand(operandNumber);
  auto yType = tensorTypeOf(y), type = tensorTypeOf(target);
  int64_t rank = yType.getRank(), axis = op.operandAxis(operandNumber);
  auto dimsOf = [&](unsigned i) {
    SmallVector<int64_t> dims;
    for (int64_t dim : iota(tensorTypeOf(op->getOperand(i)).getRank()))
      dims.push_back(dim + op.operandAxis(i));
    return dims;
  };
  SmallVector<bool> reduction(rank, false);
  bool reduces = type.getRank() != rank;
  for (int64_t dim = 0; dim < rank; ++dim)
    reduction[dim] = dim < axis || dim >= axis + type.getRank();

  // Prefer the form that reads y: then the backward pass needs no x, which an
  // in-place top may have overwritten.
  bool fromResult;
  {
    Block scratch;
    OpBuilder probe(op->getContext());
    probe.setInsertionPointToStart(&scratch);
    Value element = scratch.addArgument(yType.getElementType(), op->getLoc());
    fromResult = op.buildDerivativeFromResult(
                     probe, op->getLoc(), operandNumber, element) != nullptr;
    scratch.dropAllDefinedValueUses();
    scratch.clear();
  }

  if (!fromResult && op->getNumOperands() > kMaxOperands) {
    layerError(op) << "has " << op->getNumOperands()
                   << " bottoms; with gradients, at most " << kMaxOperands
                   << " are supported, because the time to compile is "
                      "quadratic in their number";
    return failure();
  }
  LogicalResult status = success();
  NestBuilder nest(b, op->getLoc(), yType.getShape(), reduction);
  nest.input(resultGradient, iota(rank));
  if (fromResult) {
    nest.input(y, iota(rank));
  } else {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      nest.input(op->getOperand(i), dimsOf(i));
  }
  if (reduces)
    nest.output(type, dimsOf(operandNumber), 0.0);
  else
    nest.output(type, dimsOf(operandNumber));
  Value result = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value gradient;
    if (fromResult) {
      gradient = s.mul(body.in[0], op.buildDerivativeFromResult(
                                       s.b, s.loc, operandNumber, body.in[1]));
    } else {
      // A value may be two operands (x * x with x as both bottoms). Each
      // operand has its own block argument, so this differentiates with respect
      // to one only.
      Derivatives derivatives(s, body.in[1 + operandNumber]);
      Block *block = s.b.getInsertionBlock();
      Operation *lastBefore = &block->back(); // the constant just created
      Value y = op.buildScalar(s.b, s.loc, body.in.drop_front());
      SmallVector<Operation *> expression;
      for (Operation *expressionOp = lastBefore->getNextNode(); expressionOp;
           expressionOp = expressionOp->getNextNode())
        expression.push_back(expressionOp);
      for (Operation *expressionOp : expression)
        if (failed(derivatives.visit(expressionOp)))
          status = failure();
      Value derivative = derivatives.get(y);
      gradient = derivative ? derivatives.times(derivative, body.in[0])
                            : s.constant(yType.getElementType(), 0);
    }
    if (reduces)
      gradient = s.accumulate(body.out[0], gradient);
    return {gradient};
  })[0];
  if (failed(status)) {
    layerError(op) << "is not differentiable";
    return failure();
  }
  return result;
}
