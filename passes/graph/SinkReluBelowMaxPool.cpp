//===- SinkReluBelowMaxPool.cpp - Sinks ReLUs below max pooling -----------===//
//
// ReLU and max pooling commute: max(relu(x)) == relu(max(x)). After the
// pooling, the ReLU works on a fraction of the elements (a quarter for 2x2
// windows). The backward pass then needs the signs of the pooled blob, which is
// stored for the next layer anyway, instead of the signs of the large blob.
//
// The gradients are identical: if the maximum is positive, both orders select
// the same position in the window; otherwise the gradient is zero. A negative
// slope could make different values equal, so a ReLU with a slope stays.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/pooling/Pooling.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace brew::passes {
#define GEN_PASS_DEF_SINKRELUBELOWMAXPOOL
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Returns the ReLU that produces `value`, if `value` has a single use and the
/// ReLU has no negative slope, loss weight or propagate_down; otherwise null.
ReLUOp sinkableReLU(Value value) {
  auto relu = value.getDefiningOp<ReLUOp>();
  return relu && value.hasOneUse() && relu.getNegativeSlope().isZero() &&
                 !relu.getLossWeights() && !relu.getPropagateDown()
             ? relu
             : ReLUOp();
}

struct SinkReluBelowMaxPool : OpRewritePattern<MaxPoolingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaxPoolingOp pool,
                                PatternRewriter &rewriter) const override {
    // A mask top would show which of several zeros is the maximum.
    if (pool.getMask() || pool.getLossWeights() || pool.getPropagateDown())
      return failure();
    // If the pooling reads a Concat, all inputs of the Concat must be ReLUs.
    auto concat = pool.getX().getDefiningOp<ConcatOp>();
    SmallVector<Value> inputs = {pool.getX()};
    if (concat) {
      if (!concat->hasOneUse() || concat.getLossWeights() ||
          concat.getPropagateDown())
        return failure();
      inputs = concat.getXs();
    }
    SmallVector<ReLUOp> relus;
    for (Value value : inputs)
      if (ReLUOp relu = sinkableReLU(value))
        relus.push_back(relu);
      else
        return failure();

    rewriter.setInsertionPointAfter(pool);
    auto sunk = ReLUOp::create(
        rewriter, relus.front().getLoc(), pool.getY().getType(), pool.getY(),
        relus.front().getLayerAttr(), pool.getTopsAttr(), nullptr, nullptr,
        relus.front().getNegativeSlopeAttr());
    rewriter.replaceAllUsesExcept(pool.getY(), sunk.getY(), sunk);
    // Only the new ReLU's result is the blob with that name.
    auto clearBlobName = [&](Operation *op) {
      rewriter.modifyOpInPlace(
          op, [&] { op->setAttr("tops", rewriter.getStrArrayAttr({""})); });
    };
    clearBlobName(pool);
    if (concat)
      clearBlobName(concat);
    for (ReLUOp relu : relus)
      rewriter.replaceOp(relu, relu.getX());
    return success();
  }
};

struct SinkReluBelowMaxPoolPass
    : brew::passes::impl::SinkReluBelowMaxPoolBase<SinkReluBelowMaxPoolPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkReluBelowMaxPool>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
