//===- ElideRoundings.cpp - Removal of bf16 roundings ---------------------===//
//
// Removes only roundings to bf16, which has the range of f32. A value outside
// the range of f16 must overflow; otherwise a loss scale that is too large
// would be detected too late.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

namespace brew::passes {
#define GEN_PASS_DEF_ELIDEROUNDINGS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Returns whether `rounded` is a result of its nest. Then the nest must
/// compute with the rounded value, like other readers of the stored tensor.
bool isStored(arith::TruncFOp rounded) {
  return llvm::any_of(rounded->getUsers(), [](Operation *user) {
    return isa<linalg::YieldOp>(user);
  });
}

bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

/// Lets comparisons of `widened` with zero compare `exact`, whose sign it has:
/// only values below the smallest number of bf16 become zero.
void compareExactly(arith::ExtFOp widened, Value exact) {
  for (OpOperand &use : llvm::make_early_inc_range(widened->getUses())) {
    auto compare = dyn_cast<arith::CmpFOp>(use.getOwner());
    if (compare && (isZero(compare.getLhs()) || isZero(compare.getRhs())))
      use.set(exact);
  }
}

struct ElideRoundings : brew::passes::impl::ElideRoundingsBase<ElideRoundings> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
      elideRoundings(*nest.getBody());
  }

private:
  static void elideRoundings(Block &body) {
    for (auto widened :
         llvm::make_early_inc_range(body.getOps<arith::ExtFOp>())) {
      auto rounded = widened.getIn().getDefiningOp<arith::TruncFOp>();
      if (!rounded || !rounded.getType().isBF16() ||
          rounded.getIn().getType() != widened.getType())
        continue;
      compareExactly(widened, rounded.getIn());
      if (isStored(rounded) && !widened.use_empty())
        continue;
      widened.replaceAllUsesWith(rounded.getIn());
      widened.erase();
      if (rounded.use_empty())
        rounded.erase();
    }
  }
};

} // namespace
