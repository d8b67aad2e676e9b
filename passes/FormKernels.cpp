//===- FormKernels.cpp - Groups loop nests into kernels
//--------------------===//
//
// Works in three steps: every nest's loops are put in the memory order of its
// result; nests are gathered greedily, in program order, into groups that can
// share a grid; each group is outlined into a brew.kernel. Flat groups that do
// not depend on each other then become parts of one kernel.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/Solver.h"
#include "passes/OutlineKernel.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace brew {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

using brew::Group;

namespace {

/// Interchanges loops: parallel ones first, in the memory order of the first
/// result, then reductions in the order they are written.
linalg::GenericOp orderLoops(IRRewriter &rewriter, linalg::GenericOp nest) {
  SmallVector<unsigned> order;
  SmallVector<int64_t> written = resultLoops(nest, 0);
  auto type = cast<RankedTensorType>(nest.getResult(0).getType());
  for (int64_t dim : memoryOrder(type))
    order.push_back(written[dim]);
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  if (llvm::is_sorted(order))
    return nest;
  rewriter.setInsertionPoint(nest);
  DictionaryAttr kept = nest->getDiscardableAttrDictionary();
  FailureOr<linalg::GenericOp> moved =
      linalg::interchangeGenericOp(rewriter, nest, order);
  if (failed(moved))
    return nest;
  (*moved)->setDiscardableAttrs(kept);
  // Interchange expresses indices through affine maps; they are plain loop
  // indices, and what follows looks for those.
  (*moved).getBody()->walk([](affine::AffineApplyOp apply) {
    if (auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0))) {
      apply.getResult().replaceAllUsesWith(
          apply.getMapOperands()[dim.getPosition()]);
      apply.erase();
    }
  });
  return *moved;
}

struct FormKernels : brew::impl::FormKernelsBase<FormKernels> {
  /// Position in the program after which a group's kernel stands.
  static Operation *endOf(const Group &group) {
    linalg::GenericOp last = group.nests.back();
    return last.getOperation();
  }

  void formKernels(ProgramOp program) {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    for (auto nest : nests)
      orderLoops(rewriter, nest);

    const std::vector<Group> groups = brew::groupNests(program);
    for (size_t i = 0; i < groups.size();) {
      SmallVector<const Group *> parts = {&groups[i]};
      size_t next = i + 1;
      // Only kernels that follow each other directly: then nothing between
      // them can depend on the first.
      while (brew::isFlat(groups[i]) && next < groups.size() &&
             brew::isFlat(groups[next]) &&
             followsIndependently(parts, groups[next]))
        parts.push_back(&groups[next++]);
      brew::outlineKernel(parts, endOf(*parts.back()));
      i = next;
    }
  }

  /// Whether `group` does not read the parts and no operation that does or
  /// that is no nest stands between.
  static bool followsIndependently(ArrayRef<const Group *> parts,
                                   const Group &group) {
    for (const Group *part : parts)
      for (auto nest : group.nests)
        if (brew::dependsOn(nest, *part))
          return false;
    for (const Group *part : parts)
      for (auto nest : part->nests)
        for (Operation *user : nest->getUsers()) {
          while (!isa<ProgramOp>(user->getParentOp()))
            user = user->getParentOp();
          if (!part->contains(user) && user->isBeforeInBlock(endOf(group)))
            return false;
        }
    return true;
  }

  /// Sinks wait until everything is computed, so that no kernel has to stand
  /// before them.
  static void moveSinksToEnd(Block &block) {
    SmallVector<Operation *> sinks;
    for (Operation &op : block)
      if (isa<StoreParamOp, StoreStateOp, StoreGradientOp, StoreAllGradientsOp,
              KeepOp, OutputOp, CheckLabelsOp>(op))
        sinks.push_back(&op);
    for (Operation *sink : sinks)
      sink->moveBefore(&block, block.end());
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      moveSinksToEnd(block);
      formKernels(program);
      // Initial values left without nests.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp, FillOp>(
                op) &&
            op.use_empty())
          op.erase();
    }
  }
};

} // namespace
