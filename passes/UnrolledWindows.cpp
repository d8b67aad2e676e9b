//===- UnrolledWindows.cpp - Gathers over windows without loops -----------===//
#include "passes/UnrolledWindows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// Iterations of the reduction loops.
static int64_t windowsOf(linalg::GenericOp nest) {
  int64_t count = 1;
  for (auto [extent, kind] : llvm::zip_equal(nest.getStaticLoopRanges(),
                                             nest.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      count *= extent;
  return count;
}

bool brew::gathersFromWindows(linalg::GenericOp nest, int64_t most) {
  if (nest->getNumResults() != 1 || nest.getNumReductionLoops() == 0 ||
      windowsOf(nest) > most ||
      !nest.getDpsInits().front().getDefiningOp<linalg::FillOp>())
    return false;
  // The parallel loops stand first, and the result has them in their order.
  const unsigned parallel = nest.getNumParallelLoops();
  const SmallVector<utils::IteratorType> kinds = nest.getIteratorTypesArray();
  if (!llvm::all_of(ArrayRef(kinds).take_front(parallel),
                    [](utils::IteratorType kind) {
                      return kind == utils::IteratorType::parallel;
                    }) ||
      nest.getMatchingIndexingMap(nest.getDpsInitOperand(0)) !=
          AffineMap::getMultiDimIdentityMap(nest.getNumLoops(),
                                            nest.getContext())
              .getMajorSubMap(parallel))
    return false;
  return llvm::all_of(nest.getRegionInputArgs(),
                      [](BlockArgument value) { return value.use_empty(); }) &&
         llvm::any_of(nest.getBody()->getOperations(),
                      [](Operation &op) { return isa<tensor::ExtractOp>(op); });
}

int64_t brew::operationsPerElement(linalg::GenericOp nest) {
  // A quotient takes about as long as so many others.
  constexpr int64_t kQuotient = 8;
  llvm::DenseSet<Operation *> ofElements;
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    if (isa<tensor::ExtractOp>(op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return ofElements.contains(operand.getDefiningOp());
        })) {
      ofElements.insert(&op);
      count += isa<arith::DivFOp>(op) ? kQuotient : 1;
    }
  return count * windowsOf(nest);
}

linalg::GenericOp brew::unrollWindows(RewriterBase &rewriter,
                                      linalg::GenericOp nest) {
  const unsigned parallel = nest.getNumParallelLoops();
  const SmallVector<int64_t> extents = nest.getStaticLoopRanges();
  auto fill = nest.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  rewriter.setInsertionPoint(nest);
  auto unrolled = linalg::GenericOp::create(
      rewriter, nest.getLoc(), nest->getResultTypes(), ValueRange(),
      ValueRange(fill.getOutputs().front()),
      rewriter.getMultiDimIdentityMap(parallel),
      SmallVector<utils::IteratorType>(parallel, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value sum = fill.getInputs().front();
        const int64_t windows = windowsOf(nest);
        for (int64_t window = 0; window < windows; ++window) {
          // The windows in the order of the loops, the last one innermost.
          SmallVector<int64_t> at(extents.size());
          int64_t rest = window;
          for (size_t loop = extents.size(); loop-- > parallel;) {
            at[loop] = rest % extents[loop];
            rest /= extents[loop];
          }
          IRMapping map;
          map.map(nest.getRegionOutputArgs().front(), sum);
          for (Operation &op : nest.getBody()->without_terminator()) {
            auto index = dyn_cast<linalg::IndexOp>(op);
            if (index && index.getDim() >= parallel)
              map.map(index.getResult(),
                      arith::ConstantIndexOp::create(b, loc, at[index.getDim()])
                          .getResult());
            else
              b.clone(op, map);
          }
          sum = map.lookup(nest.getBody()->getTerminator()->getOperand(0));
        }
        linalg::YieldOp::create(b, loc, sum);
      });
  unrolled->setDiscardableAttrs(nest->getDiscardableAttrDictionary());
  rewriter.replaceOp(nest, unrolled);
  return unrolled;
}
