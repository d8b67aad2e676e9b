//===- Combine.cpp - Combination of partial results -----------------------===//
#include "compiler/cuda/KernelSchedule.h"

#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace brew::compiler::cuda {

/// Returns whether `value` is an index that grows from each reduction iteration
/// to the next.
static bool grows(const Nest &nest, Value value) {
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
/// iteration either stores its position or nothing: select(old == 0, select(c,
/// old, new), old).
static bool keepsFirst(const Nest &nest, unsigned number) {
  linalg::GenericOp op = nest.op;
  Value old = op.getRegionOutputArgs()[number];
  if (!old.getType().isInteger(32))
    return false;
  auto outer = nest.body()
                   ->getTerminator()
                   ->getOperand(number)
                   .getDefiningOp<arith::SelectOp>();
  if (!outer || outer.getFalseValue() != old)
    return false;
  auto compare = outer.getCondition().getDefiningOp<arith::CmpIOp>();
  auto inner = outer.getTrueValue().getDefiningOp<arith::SelectOp>();
  if (!compare || !inner ||
      compare.getPredicate() != arith::CmpIPredicate::eq ||
      compare.getLhs() != old || !matchPattern(compare.getRhs(), m_Zero()) ||
      inner.getTrueValue() != old || inner.getFalseValue() == old)
    return false;
  // Nothing else may depend on the previous value.
  return std::distance(old.use_begin(), old.use_end()) == 3 &&
         grows(nest, inner.getFalseValue());
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
  bool reorderable =
      sum && arith::bitEnumContainsAll(sum.getFastmath(),
                                       arith::FastMathFlags::reassoc);
  return reorderable ? Combine::Sum : Combine::None;
}

} // namespace brew::compiler::cuda
