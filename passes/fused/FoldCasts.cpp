//===- FoldCasts.cpp - Folding of casts into nests ------------------------===//
//
// A nest reads narrow tensors and widens their elements; a nest without
// reduction loops rounds its results. A reduction keeps its f32 accumulator:
// its cast becomes a separate nest, which kernel forming fuses with it. Casts
// that no nest reads or produces (operands of calls, sinks) become nests too.
//
//===----------------------------------------------------------------------===//
#include "passes/fused/FoldCasts.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace brew::passes {
#define GEN_PASS_DEF_FOLDCASTS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

bool widens(CastOp cast) {
  return elementTypeOf(cast.getX()).getIntOrFloatBitWidth() <
         elementTypeOf(cast.getY()).getIntOrFloatBitWidth();
}

/// Lets nests that read a widened tensor read the narrow one.
void foldIntoReaders(CastOp cast) {
  Value narrow = cast.getX(), wide = cast.getY();
  Type element = elementTypeOf(wide);
  for (OpOperand &use : llvm::make_early_inc_range(wide.getUses())) {
    Operation *user = use.getOwner();
    OpBuilder b(user);
    if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
      Value loaded = tensor::ExtractOp::create(b, extract.getLoc(), narrow,
                                               extract.getIndices());
      extract.replaceAllUsesWith(
          arith::ExtFOp::create(b, extract.getLoc(), element, loaded)
              .getResult());
      extract.erase();
      continue;
    }
    auto nest = dyn_cast<linalg::GenericOp>(user);
    if (!nest || !nest.isDpsInput(&use))
      continue;
    BlockArgument argument = nest.getMatchingBlockArgument(&use);
    use.set(narrow);
    argument.setType(elementTypeOf(narrow));
    if (argument.use_empty())
      continue;
    b.setInsertionPointToStart(nest.getBody());
    auto extended = arith::ExtFOp::create(b, nest.getLoc(), element, argument);
    argument.replaceAllUsesExcept(extended, extended);
  }
}

/// Lets the producing nest round its result. Returns whether that is possible.
bool foldIntoWriter(CastOp cast) {
  auto nest = cast.getX().getDefiningOp<linalg::GenericOp>();
  auto from = tensorTypeOf(cast.getX()), to = tensorTypeOf(cast.getY());
  if (!nest || !cast.getX().hasOneUse() ||
      nest.getNumParallelLoops() != nest.getNumLoops() ||
      memoryStrides(from) != memoryStrides(to))
    return false;
  auto result = llvm::cast<OpResult>(cast.getX());
  OpOperand *init = nest.getDpsInitOperand(result.getResultNumber());
  BlockArgument argument = nest.getMatchingBlockArgument(init);
  if (!argument.use_empty() || !init->get().getDefiningOp<tensor::EmptyOp>())
    return false;
  OpBuilder b(nest);
  init->set(tensor::EmptyOp::create(b, nest.getLoc(), to.getShape(),
                                    to.getElementType(), to.getEncoding()));
  argument.setType(to.getElementType());
  Operation *yield = nest.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  OpOperand &yielded = yield->getOpOperand(result.getResultNumber());
  yielded.set(arith::TruncFOp::create(b, nest.getLoc(), to.getElementType(),
                                      yielded.get()));
  result.setType(to);
  cast.getY().replaceAllUsesWith(result);
  cast.erase();
  return true;
}

/// Lowers a remaining cast to a nest.
void lowerToNest(CastOp cast) {
  OpBuilder b(cast);
  Value nest = cast.buildNests(b)[0];
  Origin::of(cast).mark(nest.getDefiningOp());
  cast.getY().replaceAllUsesWith(nest);
  cast.erase();
}

struct FoldCasts : brew::passes::impl::FoldCastsBase<FoldCasts> {
  void runOnOperation() override {
    brew::passes::foldCasts(getOperation().getBody().front());
  }
};

} // namespace

void brew::passes::foldCasts(Block &block) {
  SmallVector<CastOp> casts(block.getOps<CastOp>());
  // Fold pairs before readers: the rounded value then has no f32 users.
  for (CastOp &cast : casts) {
    SmallVector<OpFoldResult> folded;
    if (succeeded(cast->fold(folded)) && !folded.empty()) {
      cast.getY().replaceAllUsesWith(llvm::cast<Value>(folded[0]));
      cast.erase();
      cast = {};
    }
  }
  llvm::erase(casts, CastOp());
  for (CastOp cast : casts)
    if (widens(cast))
      foldIntoReaders(cast);
  for (CastOp cast : llvm::reverse(casts))
    if (cast.getY().use_empty())
      cast.erase();
  for (CastOp cast : SmallVector<CastOp>(block.getOps<CastOp>()))
    if (widens(cast) || !foldIntoWriter(cast))
      lowerToNest(cast);
}
