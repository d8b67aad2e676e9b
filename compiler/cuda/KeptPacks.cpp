//===- KeptPacks.cpp - Selects of neighbours by their codes ---------------===//
//
// The gradient of a max pooling is the top's gradient at those elements whose
// position in the window is the stored one, which is a byte. If a thread
// computes neighbouring channels, it compares four bytes at once and masks the
// words of the gradient, instead of comparing, selecting and widening each
// element.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace brew::compiler::cuda {

namespace {

/// Operands of a select that keeps a value, or zero, by the code of its
/// element.
struct EqualSelect {
  Operation *value = nullptr, *elementCode = nullptr; ///< loaded as packs
  Value code;
  SmallVector<Value> conditions; ///< further ones
};

/// Returns whether `value` is the same for all iterations of loop `packed`, and
/// can be computed from the indices of the others.
bool isCommon(Value value, unsigned packed) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return index.getDim() != packed;
  return !isa<tensor::ExtractOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isCommon(operand, packed); });
}

/// Returns the operands if `op` has the form
/// `elementCode == code && conditions ? value : 0`, where `value` has 16 bits
/// and may be widened.
template <typename Function>
std::optional<EqualSelect> matchEqualSelect(Operation &op, unsigned packed,
                                            const Function &isPack) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto zero = select ? select.getFalseValue().getDefiningOp<arith::ConstantOp>()
                     : arith::ConstantOp();
  auto number = zero ? dyn_cast<FloatAttr>(zero.getValue()) : FloatAttr();
  if (!number || !number.getValue().isPosZero())
    return std::nullopt;
  EqualSelect match;
  Value value = select.getTrueValue();
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  match.value = value.getDefiningOp();
  if (!value.getType().isF16() && !value.getType().isBF16())
    return std::nullopt;
  SmallVector<Value> worklist = {select.getCondition()};
  while (!worklist.empty()) {
    Value condition = worklist.pop_back_val();
    if (isCommon(condition, packed)) {
      match.conditions.push_back(condition);
    } else if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      worklist.append({both.getRhs(), both.getLhs()});
    } else {
      auto compare = condition.getDefiningOp<arith::CmpIOp>();
      if (!compare || match.elementCode ||
          compare.getPredicate() != arith::CmpIPredicate::eq ||
          !compare.getLhs().getType().isInteger(8) ||
          !isCommon(compare.getRhs(), packed))
        return std::nullopt;
      match.elementCode = compare.getLhs().getDefiningOp();
      match.code = compare.getRhs();
    }
  }
  if (!match.elementCode || !isPack(match.value) || !isPack(match.elementCode))
    return std::nullopt;
  return match;
}

} // namespace

void BodyEmitter::keepEqual(const Nest &nest, const NestSchedule &inner,
                            ArrayRef<Code> loops) {
  auto isPack = [&](Operation *op) {
    return op && values.extracts.contains(op);
  };
  for (Operation &op : nest.body()->without_terminator()) {
    std::optional<EqualSelect> select =
        matchEqualSelect(op, inner.packed, isPack);
    if (!select)
      continue;
    SmallVector<Value> common = select->conditions;
    common.push_back(select->code);
    emitOperands(nest, common, loops);
    Code isValid;
    for (Value condition : select->conditions) {
      const Code code = operand(condition).primary();
      isValid = isValid.empty() ? code : isValid + " && " + code;
    }
    const KernelArgument &buffer =
        text.arguments[nest.extracts.find(select->value)
                           ->second.source.argument];
    const Code name = text.derived(buffer.name, "_kept");
    text.prelude.keepEqual = true;
    text.lines.line(
        "const " + packType(buffer.element, inner.pack) + " " + name + " = " +
        Code::call("BREW_KEEP_EQUAL",
                   {values.extracts[select->value],
                    values.extracts[select->elementCode],
                    operand(select->code).code,
                    isValid.empty() ? Code::word("true") : isValid.bare()}) +
        ";");
    values.kept[&op] = {buffer.element, name};
  }
  if (values.kept.empty())
    return;
  for (Operation &op : llvm::reverse(nest.body()->without_terminator()))
    if (llvm::all_of(op.getUsers(), [&](Operation *user) {
          return values.kept.contains(user) || values.unused.contains(user);
        }))
      values.unused.insert(&op);
}

} // namespace brew::compiler::cuda
