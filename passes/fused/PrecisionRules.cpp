//===- PrecisionRules.cpp - What may be rounded to 16 bits ----------------===//
#include "passes/fused/PrecisionRules.h"

#include "dialects/Brew/PrecisionInterface.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Brew/layers/shape/Shape.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Whether passes know that `op` computes as well from rounded operands,
/// without its saying so: each element from those at its place, or as a vendor
/// call does.
bool isKnown(Operation *op) {
  return isa<ScalarBodyInterface, LibraryInterface, linalg::LinalgOp>(op) ||
         brew::passes::movesElements(op);
}

/// Whether an operand must keep all digits. So must those of operations that
/// compute and say nothing.
bool isExactOperand(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto rule = dyn_cast<PrecisionInterface>(op))
    return rule.mustStayExact(operand.getOperandNumber());
  return isa<LoopNestInterface>(op) && !isKnown(op);
}

/// Whether exact results make the operands exact as well.
bool passesOn(Operation *op) {
  if (isa<ScalarBodyInterface, UnscaleOp>(op) ||
      brew::passes::movesElements(op))
    return true;
  auto nest = dyn_cast<linalg::GenericOp>(op);
  return nest && nest.getNumParallelLoops() == nest.getNumLoops();
}

} // namespace

llvm::DenseSet<Value> brew::passes::findExactValues(ProgramOp program) {
  llvm::DenseSet<Value> exact;
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    if (op.hasTrait<IsStore>())
      exact.insert(op.getOperand(0));
    for (OpOperand &operand : op.getOpOperands())
      if (isExactOperand(operand))
        exact.insert(operand.get());
    if (auto rule = dyn_cast<PrecisionInterface>(&op))
      for (OpResult result : op.getResults())
        for (OpOperand &operand : op.getOpOperands())
          if (exact.contains(result) &&
              rule.copiesElements(operand.getOperandNumber(),
                                 result.getResultNumber()))
            exact.insert(operand.get());
    bool any = llvm::any_of(
        op.getResults(), [&](Value result) { return exact.contains(result); });
    if (!any || !passesOn(&op))
      continue;
    for (Value operand : op.getOperands())
      // What others read too was not made for the exact result.
      if (operand.hasOneUse() || !isa<linalg::GenericOp>(op))
        exact.insert(operand);
  }
  return exact;
}

bool brew::passes::movesElements(Operation *op) {
  return isa<ReinterpretOp, ConcatViewOp, SubviewOp, ZeroPadOp, ConcatOp, SliceOp, CropOp>(
      op);
}

bool brew::passes::isMoved(OpOperand &operand) {
  return !isa<CropOp>(operand.getOwner()) || operand.getOperandNumber() == 0;
}

bool brew::passes::isNarrowResult(OpResult result) {
  Operation *op = result.getOwner();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !type.getElementType().isF32() || type.getNumElements() <= 1)
    return false;
  if (isa<DataInputOp, OutputGradientOp, FillOp, CastOp, UnscaleOp, tensor::EmptyOp,
          linalg::FillOp>(op) ||
      op->hasTrait<IsPersistentRead>() || op->hasTrait<OpTrait::ConstantLike>())
    return false;
  if (llvm::all_of(result.getUsers(),
                   [](Operation *user) { return user->hasTrait<IsSink>(); }))
    return false;
  // Beyond its tops a layer's results are what it saves for the backward pass.
  // Parts of a composite layer have no names for theirs.
  unsigned number = result.getResultNumber();
  if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
    if (number >= tops.size() && op->getNumResults() > 1)
      return false;
  if (auto rule = dyn_cast<PrecisionInterface>(op))
    return !rule.staysF32(number);
  return !isa<LoopNestInterface>(op) || isKnown(op);
}
