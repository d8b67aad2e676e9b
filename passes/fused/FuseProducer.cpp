//===- FuseProducer.cpp - Fusion of a producer into its reader ------------===//
#include "passes/fused/FuseProducer.h"

#include "dialects/Brew/Origin.h"
#include "passes/fused/MergedInputs.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using brew::dialects::Origin;

linalg::GenericOp brew::passes::fuseProducer(RewriterBase &rewriter,
                                             linalg::GenericOp reader,
                                             Value value, bool isFullyFused) {
  Origin origin = Origin::of(reader);
  if (isFullyFused)
    origin = Origin::of(value.getDefiningOp()).with(origin);
  bool isFused = false;
  for (unsigned i = 0; i < reader.getNumDpsInputs(); ++i) {
    OpOperand *use = reader.getDpsInputOperand(i);
    if (use->get() != value)
      continue;
    // Fuse a clone: it has no other users for which MLIR would keep its result.
    rewriter.setInsertionPoint(reader);
    Operation *clone = rewriter.clone(*value.getDefiningOp());
    rewriter.modifyOpInPlace(reader, [&] { use->set(clone->getResult(0)); });
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, use);
    // If no other operand determines a loop's extent, MLIR keeps the value as a
    // result.
    if (failed(fused) ||
        fused->fusedOp->getNumResults() != reader->getNumResults()) {
      if (succeeded(fused))
        rewriter.eraseOp(fused->fusedOp);
      rewriter.modifyOpInPlace(reader, [&] { use->set(value); });
      rewriter.eraseOp(clone);
      break;
    }
    rewriter.replaceOp(reader, fused->fusedOp->getResults());
    rewriter.eraseOp(clone);
    reader = cast<linalg::GenericOp>(fused->fusedOp);
    isFused = true;
    i = -1u; // restart: the inputs have changed
  }
  if (!isFused)
    return reader;
  reader = mergeDuplicateInputs(rewriter, reader);
  origin.mark(reader);
  return reader;
}

linalg::GenericOp brew::passes::mergeDuplicateInputs(RewriterBase &rewriter,
                                                     linalg::GenericOp nest) {
  brew::passes::MergedInputs mergedInputs;
  const SmallVector<unsigned> positions = mergedInputs.add(nest);
  SmallVector<Value> &inputs = mergedInputs.values;
  SmallVector<AffineMap> &maps = mergedInputs.maps;
  Block *body = nest.getBody();
  if (inputs.size() < positions.size()) {
    for (OpOperand &init : nest.getDpsInitsMutable())
      maps.push_back(nest.getMatchingIndexingMap(&init));
    rewriter.setInsertionPoint(nest);
    auto merged = linalg::GenericOp::create(
        rewriter, nest.getLoc(), nest->getResultTypes(), inputs,
        nest.getDpsInits(), maps, nest.getIteratorTypesArray(),
        [&](OpBuilder &b, Location, ValueRange values) {
          IRMapping map;
          for (auto [i, position] : llvm::enumerate(positions))
            map.map(body->getArgument(i), values[position]);
          for (auto [oldArgument, newArgument] :
               llvm::zip_equal(nest.getRegionOutputArgs(),
                               values.drop_front(inputs.size())))
            map.map(oldArgument, newArgument);
          for (Operation &op : *body)
            b.clone(op, map);
        });
    rewriter.replaceOp(nest, merged->getResults());
    nest = merged;
  }
  // Fusion expresses plain loop indices as affine maps.
  nest.getBody()->walk([&](affine::AffineApplyOp apply) {
    auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0));
    if (dim)
      rewriter.replaceOp(apply, apply.getMapOperands()[dim.getPosition()]);
  });
  DominanceInfo dominance(nest);
  eliminateCommonSubExpressions(rewriter, dominance, nest);
  return nest;
}

void brew::passes::eraseDeadNests(RewriterBase &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp>(op) &&
        op.use_empty())
      rewriter.eraseOp(&op);
}
