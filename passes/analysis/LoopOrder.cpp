//===- LoopOrder.cpp - Loop order of nests --------------------------------===//
#include "passes/analysis/LoopOrder.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace brew::dialects;

linalg::GenericOp brew::passes::orderLoops(RewriterBase &rewriter,
                                           linalg::GenericOp nest) {
  SmallVector<unsigned> order;
  SmallVector<int64_t> writtenLoops = resultLoops(nest, 0);
  auto type = cast<RankedTensorType>(nest.getResult(0).getType());
  for (int64_t dim : memoryOrder(type))
    order.push_back(writtenLoops[dim]);
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  if (llvm::is_sorted(order))
    return nest;
  rewriter.setInsertionPoint(nest);
  const Origin origin = Origin::of(nest);
  FailureOr<linalg::GenericOp> interchanged =
      linalg::interchangeGenericOp(rewriter, nest, order);
  if (failed(interchanged))
    return nest;
  origin.mark(*interchanged);
  // Interchange expresses plain loop indices as affine maps; later passes
  // expect linalg.index.
  (*interchanged).getBody()->walk([](affine::AffineApplyOp apply) {
    if (auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0))) {
      apply.getResult().replaceAllUsesWith(
          apply.getMapOperands()[dim.getPosition()]);
      apply.erase();
    }
  });
  return *interchanged;
}
