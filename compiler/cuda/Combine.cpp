//===- Combine.cpp - Combination of partial results -----------------------===//
#include "compiler/cuda/KernelSchedule.h"

#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace brew::compiler::cuda {

/// Returns whether `value` is an index that grows from each reduction iteration
/// to the next.
static bool growsPerIteration(const Nest &nest, Value value) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  if (!cast)
    return false;
  int64_t reach = 0;
  for (unsigned loop = nest.loops.size(); loop-- > 0;) {
    if (!nest.loops[loop].reduction)
      continue;
    std::optional<int64_t> step = indexStep(nest, cast.getIn(), loop);
    if (!step || *step <= reach)
      return false;
    reach += *step * (nest.loops[loop].extent - 1);
  }
  return true;
}

/// Returns whether output `number` keeps its first nonzero value, and each
/// iteration stores either its position or nothing: select(previous == 0,
/// select(c, previous, new), previous).
static bool keepsFirst(const Nest &nest, unsigned number) {
  linalg::GenericOp op = nest.op;
  Value previous = op.getRegionOutputArgs()[number];
  if (!previous.getType().isInteger(32))
    return false;
  auto outer = nest.body()
                   ->getTerminator()
                   ->getOperand(number)
                   .getDefiningOp<arith::SelectOp>();
  if (!outer || outer.getFalseValue() != previous)
    return false;
  auto compare = outer.getCondition().getDefiningOp<arith::CmpIOp>();
  auto inner = outer.getTrueValue().getDefiningOp<arith::SelectOp>();
  if (!compare || !inner ||
      compare.getPredicate() != arith::CmpIPredicate::eq ||
      compare.getLhs() != previous ||
      !matchPattern(compare.getRhs(), m_Zero()) ||
      inner.getTrueValue() != previous || inner.getFalseValue() == previous)
    return false;
  // Nothing else may depend on the previous value.
  return std::distance(previous.use_begin(), previous.use_end()) == 3 &&
         growsPerIteration(nest, inner.getFalseValue());
}

Combine combineOf(const Nest &nest, unsigned number) {
  linalg::GenericOp op = nest.op;
  if (maximumOperand(op, number))
    return Combine::SelectMaximum;
  Value accumulated = op.getRegionOutputArgs()[number];
  Operation *yielded =
      nest.body()->getTerminator()->getOperand(number).getDefiningOp();
  if (keepsFirst(nest, number))
    return Combine::First;
  if (!yielded || !accumulated.hasOneUse() || !yielded->hasOneUse() ||
      !llvm::is_contained(yielded->getOperands(), accumulated))
    return Combine::None;
  if (isa<arith::MaximumFOp>(yielded))
    return Combine::Maximum;
  if (isa<arith::AddIOp>(yielded))
    return Combine::Sum;
  auto sum = dyn_cast<arith::AddFOp>(yielded);
  bool isReorderable =
      sum && arith::bitEnumContainsAll(sum.getFastmath(),
                                       arith::FastMathFlags::reassoc);
  return isReorderable ? Combine::Sum : Combine::None;
}

} // namespace brew::compiler::cuda
