//===- Sinks.cpp - What a program's values end in -------------------------===//
#include "passes/analysis/Sinks.h"

#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace brew::dialects;

/// Whether `op` computes from parameters alone what nothing but sinks need.
static bool isOfParametersAlone(Operation &op) {
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
  auto seeds = program.getOps<OutputGradientOp>();
  Operation *seed = seeds.empty() ? nullptr : (*seeds.begin()).getOperation();
  // All are found before the first moves: whatever asks for the order of
  // operations after that numbers the whole block anew.
  SmallVector<Operation *> early, late;
  bool isEarly = seed != nullptr;
  for (Operation &op : program) {
    isEarly &= &op != seed;
    if (op.hasTrait<IsSink>())
      (isEarly ? early : late).push_back(&op);
  }
  for (Operation *sink : early)
    sink->moveBefore(seed);
  for (Operation *sink : late)
    sink->moveBefore(&program, program.end());

  // Nests of parameters alone stand side by side, so that those of all layers
  // can become one kernel: in the forward pass, if they are part of it, else at
  // the end.
  SmallVector<Operation *> ofForward, ofBackward;
  Operation *gradient = nullptr;
  for (Operation &op : program) {
    if (!gradient && isa<linalg::GenericOp, PlanStepInterface>(op) &&
        Origin::of(&op).isBackward)
      gradient = &op;
    if (!op.use_empty() && isOfParametersAlone(op))
      (gradient ? ofBackward : ofForward).push_back(&op);
  }
  const SmallPtrSet<Operation *, 16> before(early.begin(), early.end());
  auto moveTo = [&](Operation *op, Operation *otherwise) {
    const bool isForEarly = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return before.contains(user); });
    op->moveBefore(isForEarly ? early.front() : otherwise);
  };
  for (Operation *op : ofForward)
    moveTo(op, gradient ? gradient : late.front());
  for (Operation *op : ofBackward)
    moveTo(op, late.front());
}
