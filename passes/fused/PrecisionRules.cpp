//===- PrecisionRules.cpp - Rules for rounding to 16 bits -----------------===//
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

/// Returns whether `op` tolerates rounded operands without declaring it:
/// elementwise operations, vendor calls and data movement.
bool toleratesRounding(Operation *op) {
  return isa<ScalarBodyInterface, LibraryInterface, linalg::LinalgOp>(op) ||
         brew::passes::movesElements(op);
}

/// Returns whether an operand must not be rounded. The default for operations
/// without a declaration is exact.
bool isExactOperand(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto rule = dyn_cast<PrecisionInterface>(op))
    return rule.mustStayExact(operand.getOperandNumber());
  return isa<LoopNestInterface>(op) && !toleratesRounding(op);
}

/// Returns whether exact results require exact operands.
bool propagatesExactness(Operation *op) {
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
    bool hasExactResult = llvm::any_of(
        op.getResults(), [&](Value result) { return exact.contains(result); });
    if (!hasExactResult || !propagatesExactness(&op))
      continue;
    for (Value operand : op.getOperands())
      // An operand with other users was not computed for the exact result.
      if (operand.hasOneUse() || !isa<linalg::GenericOp>(op))
        exact.insert(operand);
  }
  return exact;
}

bool brew::passes::movesElements(Operation *op) {
  return isa<ReinterpretOp, ConcatViewOp, SubviewOp, ZeroPadOp, ConcatOp,
             SliceOp, CropOp>(op);
}

bool brew::passes::isMoved(OpOperand &operand) {
  return !isa<CropOp>(operand.getOwner()) || operand.getOperandNumber() == 0;
}

bool brew::passes::isNarrowResult(OpResult result) {
  Operation *op = result.getOwner();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !type.getElementType().isF32() || type.getNumElements() <= 1)
    return false;
  if (isa<FillOp, CastOp, UnscaleOp, tensor::EmptyOp, linalg::FillOp>(op) ||
      op->hasTrait<IsInput>() || op->hasTrait<IsPersistentRead>() ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  if (llvm::all_of(result.getUsers(),
                   [](Operation *user) { return user->hasTrait<IsSink>(); }))
    return false;
  // Results beyond a layer's tops are saved for the backward pass. The
  // components of a composite layer have no named tops.
  unsigned resultNumber = result.getResultNumber();
  if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
    if (resultNumber >= tops.size() && op->getNumResults() > 1)
      return false;
  if (auto rule = dyn_cast<PrecisionInterface>(op))
    return !rule.staysF32(resultNumber);
  return !isa<LoopNestInterface>(op) || toleratesRounding(op);
}
