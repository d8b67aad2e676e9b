//===- Sinks.cpp - Sinks of a program -------------------------------------===//
#include "passes/analysis/Sinks.h"

#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace brew::dialects;

/// Returns whether `op` depends on parameters only and only sinks read it.
static bool isFromParametersToSinks(Operation &op) {
  return isa<linalg::GenericOp>(op) &&
         llvm::all_of(op.getOperands(),
                      [](Value operand) {
                        return operand.getDefiningOp() &&
                               isa<ParamValueOp, tensor::EmptyOp,
                                   linalg::FillOp, arith::ConstantOp>(
                                   operand.getDefiningOp());
                      }) &&
         llvm::all_of(op.getUsers(),
                      [](Operation *user) { return user->hasTrait<IsSink>(); });
}

void brew::passes::moveSinksToEnd(Block &program) {
  auto outputGradients = program.getOps<OutputGradientOp>();
  Operation *firstOutputGradient =
      outputGradients.empty() ? nullptr
                              : (*outputGradients.begin()).getOperation();
  // Collect all sinks before moving any: a query of the operation order after a
  // move renumbers the full block.
  SmallVector<Operation *> early, late;
  bool isEarly = firstOutputGradient != nullptr;
  for (Operation &op : program) {
    isEarly &= &op != firstOutputGradient;
    if (op.hasTrait<IsSink>())
      (isEarly ? early : late).push_back(&op);
  }
  for (Operation *sink : early)
    sink->moveBefore(firstOutputGradient);
  for (Operation *sink : late)
    sink->moveBefore(&program, program.end());

  // Move nests of parameters together, so that they can form one kernel: to the
  // end of the forward pass if they belong to it, otherwise to the end.
  SmallVector<Operation *> forwardNests, backwardNests;
  Operation *firstBackward = nullptr;
  for (Operation &op : program) {
    if (!firstBackward &&
        isa<linalg::GenericOp, PlanStepInterface, LoopOp>(op) &&
        Origin::of(&op).isBackward)
      firstBackward = &op;
    if (!op.use_empty() && isFromParametersToSinks(op))
      (firstBackward ? backwardNests : forwardNests).push_back(&op);
  }
  const SmallPtrSet<Operation *, 16> earlySinks(early.begin(), early.end());
  auto moveTo = [&](Operation *op, Operation *defaultPosition) {
    const bool isForEarly = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return earlySinks.contains(user);
    });
    op->moveBefore(isForEarly ? early.front() : defaultPosition);
  };
  for (Operation *op : forwardNests)
    moveTo(op, firstBackward ? firstBackward : late.front());
  for (Operation *op : backwardNests)
    moveTo(op, late.front());
}

bool brew::passes::isInputOrSink(Operation *op) {
  return op->hasTrait<IsPersistentRead>() || op->hasTrait<IsSink>() ||
         op->hasTrait<IsInput>();
}
