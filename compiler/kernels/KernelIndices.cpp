//===- KernelIndices.cpp - Analysis of a body's indices -------------------===//

#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace brew::compiler {
namespace {

/// Memoises indexStep for the values of one body. Otherwise, the time would
/// grow with the number of paths between values, which is huge in some bodies
/// (for example, of a search).
class IndexSteps {
public:
  IndexSteps(const Nest &nest, unsigned loop) : nest(nest), loop(loop) {}

  std::optional<int64_t> stepOf(Value index) {
    auto found = steps.find(index);
    if (found != steps.end())
      return found->second;
    std::optional<int64_t> step = compute(index);
    steps[index] = step;
    return step;
  }

private:
  std::optional<int64_t> compute(Value index);

  const Nest &nest;
  const unsigned loop;
  llvm::DenseMap<Value, std::optional<int64_t>> steps;
};
} // namespace

std::optional<int64_t> IndexSteps::compute(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    // An input is known to be constant only along a loop that does not change
    // its address.
    if (argument.getArgNumber() < nest.inputs.size())
      if (const auto &input = nest.inputs[argument.getArgNumber()])
        if (input->address.coefs[loop] == 0)
          return 0;
    return std::nullopt;
  }
  Operation *op = index.getDefiningOp();
  if (auto indexOp = dyn_cast<linalg::IndexOp>(op))
    return nest.indices[indexOp.getDim()]->coefs[loop];
  if (isa<arith::ConstantOp>(op))
    return 0;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (nest.extracts.find(op)->second.address.coefs[loop] != 0)
      return std::nullopt;
    for (Value operand : extract.getIndices())
      if (!operand.getDefiningOp<linalg::IndexOp>() && stepOf(operand) != 0)
        return std::nullopt;
    return 0;
  }
  SmallVector<std::optional<int64_t>> operandSteps;
  bool isConstant = true;
  for (Value operand : op->getOperands()) {
    operandSteps.push_back(stepOf(operand));
    isConstant &= operandSteps.back() == 0;
  }
  if (isConstant)
    return 0;
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    if (std::optional<LinearExpr> linear = linearIndex(nest, index))
      return linear->coefs[loop];
  if (op->getNumOperands() != 2 || !operandSteps[0] || !operandSteps[1])
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *operandSteps[0] + *operandSteps[1];
  if (isa<arith::SubIOp>(op))
    return *operandSteps[0] - *operandSteps[1];
  std::optional<int64_t> constant = getConstantIntValue(op->getOperand(1));
  if (!constant)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return *operandSteps[0] * *constant;
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op))
    return operandSteps[0];
  return std::nullopt;
}

std::optional<LinearExpr> linearIndex(const Nest &nest, Value index) {
  Operation *op = index.getDefiningOp();
  if (auto indexOp = dyn_cast_or_null<linalg::IndexOp>(op))
    return nest.indices[indexOp.getDim()];
  if (!isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(op))
    return std::nullopt;
  const std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
  std::optional<LinearExpr> divided = linearIndex(nest, op->getOperand(0));
  if (!divided || divided->constant != 0 || divisor.value_or(0) < 1)
    return std::nullopt;
  LinearExpr quotient, remainder;
  int64_t largestRemainder = 0;
  for (auto [number, coef] : llvm::enumerate(divided->coefs)) {
    const bool isMultiple = coef % *divisor == 0;
    if (coef < 0)
      return std::nullopt;
    quotient.coefs.push_back(isMultiple ? coef / *divisor : 0);
    remainder.coefs.push_back(isMultiple ? 0 : coef);
    largestRemainder +=
        remainder.coefs.back() * (nest.loops[number].extent - 1);
  }
  if (largestRemainder >= *divisor)
    return std::nullopt;
  return isa<arith::DivUIOp>(op) ? quotient : remainder;
}

std::optional<int64_t> indexStep(const Nest &nest, Value index, unsigned loop) {
  return IndexSteps(nest, loop).stepOf(index);
}

std::optional<int64_t> extractStep(const Nest &nest, Operation *op,
                                   const Extract &access, unsigned loop) {
  int64_t step = access.address.coefs[loop];
  auto extract = cast<tensor::ExtractOp>(op);
  for (auto [stride, index] : llvm::zip(access.strides, extract.getIndices())) {
    if (stride == 0)
      continue;
    std::optional<int64_t> stepOfIndex = indexStep(nest, index, loop);
    if (!stepOfIndex)
      return std::nullopt;
    step += stride * *stepOfIndex;
  }
  return step;
}

int64_t elementsAccessed(const Nest &nest, const LinearExpr &address) {
  int64_t elements = 1;
  for (auto [loop, coef] : llvm::zip(nest.loops, address.coefs))
    elements *= coef ? loop.extent : 1;
  return elements;
}

int64_t elementsAccessed(const Nest &nest, Operation *op,
                         const Extract &access) {
  int64_t elements = 1;
  for (auto [number, loop] : llvm::enumerate(nest.loops))
    if (extractStep(nest, op, access, number) != 0)
      elements *= loop.extent;
  return elements;
}

std::optional<int64_t> divisorOf(const Nest &nest, Operation *op,
                                 unsigned loop) {
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op))
    return std::nullopt;
  const std::optional<LinearExpr> index = linearIndex(nest, op->getOperand(0));
  if (!index || index->constant != 0)
    return std::nullopt;
  for (auto [number, coef] : llvm::enumerate(index->coefs))
    if (coef != (number == loop ? 1 : 0))
      return std::nullopt;
  return getConstantIntValue(op->getOperand(1));
}

std::optional<int64_t> commonDivisor(const SubKernel &subKernel,
                                     unsigned loop) {
  std::optional<int64_t> length;
  for (const Nest &nest : subKernel.nests)
    for (Operation &op : nest.body()->without_terminator())
      if (std::optional<int64_t> divisor = divisorOf(nest, &op, loop)) {
        if (length.value_or(*divisor) != *divisor ||
            nest.loops[loop].extent % *divisor != 0)
          return std::nullopt;
        length = divisor;
      }
  return length;
}

SmallVector<Operation *> boundaryOperations(const Nest &nest, unsigned loop) {
  SmallVector<Operation *> boundaries;
  for (Operation &op : nest.body()->without_terminator()) {
    auto compare = dyn_cast<arith::CmpIOp>(op);
    bool isOrdered =
        compare && (compare.getPredicate() == arith::CmpIPredicate::slt ||
                    compare.getPredicate() == arith::CmpIPredicate::sge);
    if (!isOrdered && !isa<arith::MaxSIOp, arith::MinSIOp>(op))
      continue;
    if (!op.getOperand(0).getType().isIndex() ||
        !getConstantIntValue(op.getOperand(1)))
      continue;
    std::optional<int64_t> step = indexStep(nest, op.getOperand(0), loop);
    if (step && *step > 0)
      boundaries.push_back(&op);
  }
  return boundaries;
}

/// Adds the operation that computes `condition`. If it is an `and`, adds its
/// operands' conjuncts, too: each of them is true if `condition` is.
static void addConjuncts(Value condition,
                         llvm::SetVector<Operation *> &conjuncts) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return;
  conjuncts.insert(op);
  if (isa<arith::AndIOp>(op))
    for (Value operand : op->getOperands())
      addConjuncts(operand, conjuncts);
}

/// Adds the conditions that must be true for `value` to be nonzero.
static void addNonzeroConditions(Value value,
                                 llvm::SetVector<Operation *> &guards) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      addConjuncts(select.getCondition(), guards);
  } else if (isa_and_nonnull<arith::MulFOp>(op)) {
    for (Value operand : op->getOperands())
      addNonzeroConditions(operand, guards);
  }
}

SmallVector<Operation *> guardOperations(const Nest &nest, unsigned loop) {
  // Without reduction loops, every iteration writes its own result, so no
  // iteration can be skipped.
  if (nest.reductions() == 0)
    return {};
  linalg::GenericOp op = nest.op;
  llvm::SetVector<Operation *> commonGuards;
  for (auto [i, accumulated] : llvm::enumerate(op.getRegionOutputArgs())) {
    Operation *yielded =
        nest.body()->getTerminator()->getOperand(i).getDefiningOp();
    llvm::SetVector<Operation *> guards;
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(yielded)) {
      if (sum.getLhs() == accumulated)
        addNonzeroConditions(sum.getRhs(), guards);
    } else if (auto select = dyn_cast_or_null<arith::SelectOp>(yielded)) {
      if (select.getFalseValue() == accumulated)
        addConjuncts(select.getCondition(), guards);
    }
    if (i == 0)
      commonGuards = guards;
    else
      commonGuards.remove_if(
          [&](Operation *guard) { return !guards.contains(guard); });
  }

  SmallVector<Operation *> usable;
  for (Operation *guard : commonGuards) {
    auto compare = dyn_cast<arith::CmpIOp>(guard);
    if (!compare || !compare.getLhs().getType().isIndex() ||
        !getConstantIntValue(compare.getRhs()) ||
        (compare.getPredicate() != arith::CmpIPredicate::slt &&
         compare.getPredicate() != arith::CmpIPredicate::sge))
      continue;
    std::optional<int64_t> step = indexStep(nest, compare.getLhs(), loop);
    if (step && *step >= 0)
      usable.push_back(guard);
  }
  // A boundary operation has no effect in guarded iterations if it is a guard
  // itself or clamps to the range of a guard.
  auto isImplied = [&](Operation *boundary) {
    if (llvm::is_contained(usable, boundary))
      return true;
    bool isUpperBound = isa<arith::MinSIOp>(boundary);
    Value clamped = boundary->getOperand(0);
    if (auto low = clamped.getDefiningOp<arith::MaxSIOp>(); isUpperBound && low)
      clamped = low.getLhs();
    int64_t limit =
        *getConstantIntValue(boundary->getOperand(1)) + isUpperBound;
    return llvm::any_of(usable, [&](Operation *guard) {
      auto compare = cast<arith::CmpIOp>(guard);
      return !isa<arith::CmpIOp>(boundary) && compare.getLhs() == clamped &&
             getConstantIntValue(compare.getRhs()) == limit &&
             (compare.getPredicate() == arith::CmpIPredicate::slt) ==
                 isUpperBound;
    });
  };
  if (!llvm::all_of(boundaryOperations(nest, loop), isImplied))
    return {};
  return usable;
}

} // namespace brew::compiler
