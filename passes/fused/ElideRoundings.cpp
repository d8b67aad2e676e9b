//===- ElideRoundings.cpp - No rounding of what is not stored --------------===//
//
// Of bf16 only, which has f32's range: what f16 cannot hold must overflow, or a
// loss scale would be found too large later than it is.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {
#define GEN_PASS_DEF_ELIDEROUNDINGS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Whether `rounded` is a result of its nest: what the nest makes of it then
/// agrees with what others make of the stored value.
bool isStored(arith::TruncFOp rounded) {
  return llvm::any_of(rounded->getUsers(), [](Operation *user) {
    return isa<linalg::YieldOp>(user);
  });
}

struct ElideRoundings : brew::passes::impl::ElideRoundingsBase<ElideRoundings> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
        keepPrecision(*nest.getBody());
  }

private:
  static void keepPrecision(Block &body) {
    for (auto widened :
         llvm::make_early_inc_range(body.getOps<arith::ExtFOp>())) {
      auto rounded = widened.getIn().getDefiningOp<arith::TruncFOp>();
      if (!rounded || !rounded.getType().isBF16() ||
          rounded.getIn().getType() != widened.getType() || isStored(rounded))
        continue;
      widened.replaceAllUsesWith(rounded.getIn());
      widened.erase();
      if (rounded.use_empty())
        rounded.erase();
    }
  }
};

} // namespace
