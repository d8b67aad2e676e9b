//===- OrderSteps.cpp - Steps in an order that needs less memory ----------===//
#include "passes/OrderedProgram.h"
#include "passes/Passes.h"

#include "dialects/Brew/layers/external/External.h"

namespace brew {
#define GEN_PASS_DEF_ORDERSTEPS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {

struct OrderSteps : brew::impl::OrderStepsBase<OrderSteps> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      // What the caller sees between the passes must have been made.
      if (!program.getBody().front().getOps<SeedOp>().empty())
        continue;
      brew::OrderedProgram steps(program);
      const std::vector<unsigned> order = brew::lowerPeak(steps.problem);
      if (!llvm::is_sorted(order))
        steps.arrange(order);
    }
  }
};

} // namespace
