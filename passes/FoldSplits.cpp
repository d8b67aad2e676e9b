//===- FoldSplits.cpp - Removes Split and Silence --------------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "passes/Passes.h"

namespace brew {
#define GEN_PASS_DEF_FOLDSPLITS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {
struct FoldSplits : brew::impl::FoldSplitsBase<FoldSplits> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto split = dyn_cast<SplitOp>(op)) {
        for (Value top : split.getYs())
          top.replaceAllUsesWith(split.getX());
        op->erase();
      } else if (isa<SilenceOp>(op)) {
        op->erase();
      }
    });
  }
};
} // namespace
