//===- OrderSteps.cpp - Step order with a lower memory peak ---------------===//
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/plan/OrderedProgram.h"

#include "dialects/Brew/layers/external/External.h"

namespace brew::passes {
#define GEN_PASS_DEF_ORDERSTEPS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct OrderSteps : brew::passes::impl::OrderStepsBase<OrderSteps> {
  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())))
      return signalPassFailure();
    ProgramOp program = getOperation();
    // The caller reads values between the passes, so they must be complete.
    if (!program.getBody().front().getOps<OutputGradientOp>().empty())
      return;
    brew::passes::OrderedProgram steps(program);
    const std::vector<unsigned> order = brew::passes::reducePeak(steps.problem);
    if (!llvm::is_sorted(order))
      steps.applyOrder(order);
  }
};

} // namespace
