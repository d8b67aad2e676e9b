//===- OrderForwardFirst.cpp - Forward pass before backward ---------------===//
//
// Kernel forming may place a loss and its gradient before the forward pass of
// another branch. But a caller may run the forward pass alone and then read all
// of its values.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/plan/OrderedProgram.h"
#include "passes/plan/PassBoundary.h"

namespace brew::passes {
#define GEN_PASS_DEF_ORDERFORWARDFIRST
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct OrderForwardFirst
    : brew::passes::impl::OrderForwardFirstBase<OrderForwardFirst> {
  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())))
      return signalPassFailure();
    ProgramOp program = getOperation();
    brew::passes::OrderedProgram steps(program);
    const std::vector<unsigned> order = steps.forwardFirstOrder();
    if (!llvm::is_sorted(order))
      steps.applyOrder(order);
  }
};

} // namespace
