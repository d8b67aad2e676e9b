//===- BuildLoops.cpp - Loops of library calls and kernels ----------------===//
#include "dialects/Brew/Origin.h"
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/LoopOrder.h"
#include "passes/fused/FoldCasts.h"
#include "passes/fused/OutlineKernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {
#define GEN_PASS_DEF_BUILDLOOPS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::passes::NestGroup;

namespace {

struct BuildLoops : brew::passes::impl::BuildLoopsBase<BuildLoops> {
  using BuildLoopsBase::BuildLoopsBase;

  /// Lowers the products of a body that are not library calls. They compute in
  /// f32.
  void lowerProducts(LoopOp loop) {
    const SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    Block &body = loop.getBody().front();
    for (auto product : llvm::to_vector(body.getOps<LibraryInterface>())) {
      if (brew::passes::usesLibrary(product, disabled))
        continue;
      brew::passes::computeInF32(product);
      OpBuilder b(product);
      Value value =
          cast<LoopNestInterface>(product.getOperation()).buildNests(b)[0];
      Origin::of(product).mark(value.getDefiningOp());
      product->getResult(0).replaceAllUsesWith(value);
      product->erase();
    }
    brew::passes::foldCasts(body);
  }

  /// Returns whether only `reader` reads the results of `nest`.
  static bool isReadOnlyBy(linalg::GenericOp nest, Operation *reader) {
    return llvm::all_of(nest->getUsers(), [&](Operation *user) {
      return reader->isAncestor(user);
    });
  }

  /// Forms a kernel of each nest of the body, and of the nests that compute
  /// intermediate values for it. Others are not fused: one may overwrite a
  /// carried value that the other reads in another order.
  static void formKernels(LoopOp loop) {
    IRRewriter rewriter(loop.getContext());
    Block &body = loop.getBody().front();
    for (auto nest : llvm::to_vector(body.getOps<linalg::GenericOp>()))
      brew::passes::orderLoops(rewriter, nest);
    NestGroup group;
    const SmallVector<linalg::GenericOp> nests(
        body.getOps<linalg::GenericOp>());
    for (size_t i = 0; i < nests.size(); ++i) {
      linalg::GenericOp nest = nests[i];
      group.nests.push_back(nest);
      group.grid = llvm::count(nest.getIteratorTypesArray(),
                               utils::IteratorType::parallel);
      if (i + 1 < nests.size() && isReadOnlyBy(nest, nests[i + 1]))
        continue;
      brew::passes::outlineKernel(&group, nest);
      group = {};
    }
    // Initial values of nests.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  void buildLoop(LoopInterface op) {
    OpBuilder b(op);
    const Origin origin = Origin::of(op);
    Operation *before = op->getPrevNode();
    const SmallVector<Value> values = op.buildLoop(b);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      if (value)
        result.replaceAllUsesWith(value);
    Block::iterator first =
        before ? std::next(before->getIterator()) : op->getBlock()->begin();
    LoopOp loop;
    for (Operation &built : llvm::make_range(first, op->getIterator()))
      built.walk([&](Operation *nested) {
        if (auto found = dyn_cast<LoopOp>(nested))
          loop = found;
        if (isa<linalg::GenericOp, LoopOp, LibraryInterface>(nested))
          origin.mark(nested);
      });
    op->erase();
    lowerProducts(loop);
    formKernels(loop);
  }

  void runOnOperation() override {
    for (auto op : llvm::to_vector(
             getOperation().getBody().front().getOps<LoopInterface>()))
      buildLoop(op);
  }
};

} // namespace
