//===- VerifyFused.cpp - Verifier of phase fused --------------------------===//
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/Sinks.h"
#include "passes/analysis/ValueStorage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace brew::passes {
#define GEN_PASS_DEF_VERIFYFUSED
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Checks that concatenated and sliced tensors have the strides of the full
/// tensor, and that only operations that support strides access them.
LogicalResult checkSubviews(Operation *op) {
  auto checkStrides = [&](Value subview, Value full) -> LogicalResult {
    if (subview.getType() == subviewOf(tensorTypeOf(full), shapeOf(subview)))
      return success();
    return op->emitError(
        "phase fused: a subview does not have the strides of the full tensor");
  };
  if (auto subview = dyn_cast<SubviewOp>(op))
    return checkStrides(subview.getY(), subview.getX());
  if (auto concat = dyn_cast<ConcatViewOp>(op)) {
    for (Value x : concat.getXs())
      if (failed(checkStrides(x, concat.getY())))
        return failure();
    return success();
  }
  if (op->hasTrait<AcceptsSubviews>())
    return success();
  auto isSupported = [](Value value, auto supports) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || !isSubview(type) ||
           supports(type, brew::passes::storageOf(value).offset);
  };
  bool isSupportedEverywhere = true;
  for (OpOperand &use : op->getOpOperands())
    isSupportedEverywhere &=
        isSupported(use.get(), [&](RankedTensorType type, int64_t offset) {
          return brew::passes::readsSliceInPlace(use, type, offset);
        });
  for (Value result : op->getResults())
    isSupportedEverywhere &=
        isSupported(result, [&](RankedTensorType type, int64_t offset) {
          return brew::passes::writesSliceInPlace(result, type, offset);
        });
  if (isSupportedEverywhere)
    return success();
  return op->emitError(
      "phase fused: this operation does not support the strides of a subview");
}

/// Returns whether the backward pass computes `value`, in a program or in a
/// kernel.
bool isComputedByBackward(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
    return kernel &&
           isComputedByBackward(kernel.getInputs()[argument.getArgNumber()]);
  }
  Operation *op = value.getDefiningOp();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return isComputedByBackward(
        kernel.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber()));
  return Origin::of(op).isBackward ||
         (op->hasTrait<IsView>() &&
          llvm::any_of(op->getOperands(), isComputedByBackward));
}

/// Returns whether a program computes layers; others compute on parameters,
/// gradients and solver state.
bool hasLayers(ProgramRole role) {
  switch (role) {
  case ProgramRole::Main:
  case ProgramRole::ForwardBackward:
  case ProgramRole::Test:
  case ProgramRole::Deploy:
  case ProgramRole::Prepare:
    return true;
  case ProgramRole::Update:
  case ProgramRole::Accumulate:
  case ProgramRole::Collect:
  case ProgramRole::Clip:
  case ProgramRole::Reduce:
    return false;
  }
  llvm_unreachable("a program without a role");
}

/// Checks that a nest names its layer, and that a nest that reads gradients is
/// marked as part of the backward pass.
LogicalResult checkOrigin(linalg::GenericOp nest) {
  const Origin origin = Origin::of(nest);
  auto program = nest->getParentOfType<ProgramOp>();
  if (!origin.layer && hasLayers(program.getRole()))
    return nest.emitError("phase fused: this nest names no layer");
  bool readsGradient = false;
  nest->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      readsGradient |= operand.getParentBlock() == nest->getBlock() &&
                       isComputedByBackward(operand);
  });
  if (readsGradient && !origin.isBackward)
    return nest.emitError("phase fused: this nest reads a gradient and does "
                          "not belong to the backward pass");
  return success();
}

/// Checks the contents of a kernel. The operation's own verifier checks the
/// sub-kernels.
LogicalResult checkKernel(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (!isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp,
             arith::ConstantOp, FillOp, YieldOp>(op))
      return op.emitError(
          "phase fused: this operation is not allowed in a kernel");
    if (auto nest = dyn_cast<linalg::GenericOp>(op);
        nest && failed(checkOrigin(nest)))
      return failure();
  }
  return success();
}

/// Checks that the body of a loop consists of steps and views, and that the
/// loop alone reads initial values, whose bytes it overwrites.
LogicalResult checkLoop(LoopOp loop) {
  for (Value initial : loop.getInitial())
    if (!initial.hasOneUse() || !initial.getDefiningOp<KernelOp>())
      return loop.emitError(
          "phase fused: an initial value has another reader or is no result "
          "of a kernel");
  if (auto steps = loop.getLastIterationSteps();
      steps && (*steps < 1 || *steps > loop.steps().size()))
    return loop.emitError(
        "phase fused: the last iteration has more steps than the others");
  for (Operation &op : loop.getBody().front()) {
    if (!isa<KernelOp, PlanStepInterface, YieldOp>(op) &&
        !op.hasTrait<IsView>())
      return op.emitError(
          "phase fused: this operation is not allowed in a loop");
    if (auto kernel = dyn_cast<KernelOp>(op);
        kernel && failed(checkKernel(kernel)))
      return failure();
    if (!isa<YieldOp>(op) && failed(checkSubviews(&op)))
      return failure();
  }
  return success();
}

struct VerifyFused : brew::passes::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    bool hasSeenSink = false;
    for (Operation &op : program.getBody().front()) {
      if (brew::passes::isStep(&op) && hasSeenSink) {
        op.emitError("phase fused: a step follows a sink");
        return signalPassFailure();
      }
      // The caller reads results of the forward pass before it writes output
      // gradients, so sinks may precede them.
      hasSeenSink =
          !isa<OutputGradientOp>(op) && (hasSeenSink || op.hasTrait<IsSink>());
      if (auto kernel = dyn_cast<KernelOp>(op);
          kernel && failed(checkKernel(kernel)))
        return signalPassFailure();
      if (auto loop = dyn_cast<LoopOp>(op); loop && failed(checkLoop(loop)))
        return signalPassFailure();
      if (!brew::passes::isStep(&op) && !op.hasTrait<IsView>() &&
          !brew::passes::isInputOrSink(&op)) {
        op.emitError("phase fused: this operation is neither a vendor call "
                     "nor part of a kernel");
        return signalPassFailure();
      }
      if (failed(checkSubviews(&op)))
        return signalPassFailure();
    }
  }
};

} // namespace
