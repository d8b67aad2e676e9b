//===- ScalarGradient.cpp - Derivatives of scalar expressions --------------===//
//
// Reverse-mode differentiation of the arith/math operations that a layer's
// scalar expression is made of. At kinks (compare and select) the derivative is
// that of the side the expression takes.
//
//===----------------------------------------------------------------------===//
#include "passes/ScalarGradient.h"

#include "dialects/Brew/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace brew::ir;

namespace {

/// Adjoints of the values of one expression.
class Adjoints {
public:
  explicit Adjoints(Scalars &s) : s(s) {}

  void add(Value value, Value adjoint) {
    Value &sum = adjoints[value];
    sum = sum ? s.add(sum, adjoint) : adjoint;
  }
  Value get(Value value) const { return adjoints.lookup(value); }

  /// Adds what `op` passes on to its operands.
  LogicalResult propagate(Operation *op) {
    Value a = get(op->getResult(0));
    if (!a || isa<arith::ConstantOp, arith::CmpFOp>(op))
      return success();
    auto operand = [&](unsigned i) { return op->getOperand(i); };
    Value y = op->getResult(0);
    Type type = y.getType();
    if (isa<arith::AddFOp>(op)) {
      add(operand(0), a);
      add(operand(1), a);
    } else if (isa<arith::SubFOp>(op)) {
      add(operand(0), a);
      add(operand(1), s.neg(a));
    } else if (isa<arith::MulFOp>(op)) {
      add(operand(0), s.mul(a, operand(1)));
      add(operand(1), s.mul(a, operand(0)));
    } else if (isa<arith::DivFOp>(op)) {
      Value quotient = s.div(a, operand(1));
      add(operand(0), quotient);
      add(operand(1), s.neg(s.mul(quotient, y)));
    } else if (isa<arith::NegFOp>(op)) {
      add(operand(0), s.neg(a));
    } else if (isa<arith::SelectOp>(op)) {
      Value zero = s.constant(type, 0);
      add(operand(1), s.select(operand(0), a, zero));
      add(operand(2), s.select(operand(0), zero, a));
    } else if (isa<math::ExpOp>(op)) {
      add(operand(0), s.mul(a, y));
    } else if (isa<math::LogOp>(op)) {
      add(operand(0), s.div(a, operand(0)));
    } else if (isa<math::Log1pOp>(op)) {
      add(operand(0), s.div(a, s.add(operand(0), s.constant(type, 1))));
    } else if (isa<math::TanhOp>(op)) {
      add(operand(0), s.mul(a, s.sub(s.constant(type, 1), s.mul(y, y))));
    } else if (isa<math::SqrtOp>(op)) {
      add(operand(0), s.div(s.mul(a, s.constant(type, 0.5)), y));
    } else if (isa<math::AbsFOp>(op)) {
      // Caffe's sign: 0 at 0.
      Value x = operand(0), zero = s.constant(type, 0);
      Value sign = s.select(s.greater(x, zero), s.constant(type, 1),
                            s.select(s.greater(zero, x), s.constant(type, -1),
                                     zero));
      add(x, s.mul(a, sign));
    } else if (isa<math::PowFOp>(op)) {
      FloatAttr exponent;
      if (!matchPattern(operand(1), m_Constant(&exponent)))
        return op->emitError("no derivative by an exponent");
      double p = exponent.getValueAsDouble();
      Value lower = math::PowFOp::create(s.b, s.loc, operand(0),
                                         s.constant(type, p - 1));
      add(operand(0), s.mul(a, s.mul(s.constant(type, p), lower)));
    } else {
      return op->emitError("no derivative rule for this operation");
    }
    return success();
  }

private:
  Scalars &s;
  llvm::DenseMap<Value, Value> adjoints;
};

} // namespace

FailureOr<Value> brew::buildScalarGradient(OpBuilder &b, ScalarBodyInterface op,
                                           unsigned number,
                                           Value resultGradient) {
  Value y = op->getResult(0), target = op->getOperand(number);
  auto yType = tensorOf(y), type = tensorOf(target);
  int64_t rank = yType.getRank(), axis = op.operandAxis(number);
  auto dimsOf = [&](unsigned i) {
    SmallVector<int64_t> dims;
    for (int64_t dim : iota(tensorOf(op->getOperand(i)).getRank()))
      dims.push_back(dim + op.operandAxis(i));
    return dims;
  };
  SmallVector<bool> reduction(rank, false);
  bool reduces = type.getRank() != rank;
  for (int64_t dim = 0; dim < rank; ++dim)
    reduction[dim] = dim < axis || dim >= axis + type.getRank();

  // Prefer the form that reads y: the backward pass then needs no x, which an
  // in-place top may have overwritten.
  bool fromResult;
  {
    Block scratch;
    OpBuilder probe(op->getContext());
    probe.setInsertionPointToStart(&scratch);
    Value element = scratch.addArgument(yType.getElementType(), op->getLoc());
    fromResult = op.buildDerivativeFromResult(probe, op->getLoc(), number,
                                              element) != nullptr;
    scratch.dropAllDefinedValueUses();
    scratch.clear();
  }

  LogicalResult status = success();
  Nest nest(b, op->getLoc(), yType.getShape(), reduction);
  nest.input(resultGradient, iota(rank));
  if (fromResult) {
    nest.input(y, iota(rank));
  } else {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      nest.input(op->getOperand(i), dimsOf(i));
  }
  if (reduces)
    nest.output(type, dimsOf(number), 0.0);
  else
    nest.output(type, dimsOf(number));
  Value result = nest.build([&](Nest::Body &body) -> SmallVector<Value> {
    Scalars &s = body.s;
    Value gradient;
    if (fromResult) {
      gradient = s.mul(body.in[0], op.buildDerivativeFromResult(
                                       s.b, s.loc, number, body.in[1]));
    } else {
      // An operand that stands twice (x * x as two bottoms) gets the
      // derivative by this one only, so each has a value of its own.
      Block *block = s.b.getInsertionBlock();
      Operation *before = block->empty() ? nullptr : &block->back();
      Value y = op.buildScalar(s.b, s.loc, body.in.drop_front());
      SmallVector<Operation *> expression;
      for (Operation *each = &block->back(); each && each != before;
           each = each->getPrevNode())
        expression.push_back(each);
      Adjoints adjoints(s);
      adjoints.add(y, body.in[0]);
      for (Operation *each : expression)
        if (failed(adjoints.propagate(each)))
          status = failure();
      gradient = adjoints.get(body.in[1 + number]);
      if (!gradient)
        gradient = s.constant(yType.getElementType(), 0);
    }
    if (reduces)
      gradient = s.accumulate(body.out[0], gradient);
    return {gradient};
  })[0];
  if (failed(status))
    return failure();
  return result;
}
