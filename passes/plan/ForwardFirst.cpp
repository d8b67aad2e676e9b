//===- ForwardFirst.cpp - The forward pass before the backward pass -------===//
//
// Kernels are formed where most can be fused, so that a loss and its gradient
// may stand before the forward pass of another branch. A caller may run the
// forward pass alone, though, and reads all of its values after it.
//
//===----------------------------------------------------------------------===//
#include "passes/OrderedProgram.h"
#include "passes/PassBoundary.h"
#include "passes/Passes.h"

namespace brew {
#define GEN_PASS_DEF_FORWARDFIRST
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {

struct ForwardFirst : brew::impl::ForwardFirstBase<ForwardFirst> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      brew::OrderedProgram steps(program);
      const std::vector<unsigned> order = steps.forwardFirst();
      if (!llvm::is_sorted(order))
        steps.arrange(order);
    }
  }
};

} // namespace
