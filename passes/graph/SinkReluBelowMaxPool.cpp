//===- SinkReluBelowMaxPool.cpp - ReLUs after max poolings ----------------===//
//
// ReLU and max pooling commute: max(relu(x)) == relu(max(x)). After the
// pooling, the ReLU works on a fraction of the elements (a quarter for 2x2
// windows), and the backward pass needs the signs of the pooled blob, which is
// stored for the next layer anyway, instead of those of the large blob.
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

/// Returns the plain ReLU that produces `value`, if `value` has a single use.
ReLUOp onlyReadReLU(Value value) {
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
    // Below a Concat, all inputs must be ReLUs.
    auto concat = pool.getX().getDefiningOp<ConcatOp>();
    SmallVector<Value> clipped = {pool.getX()};
    if (concat) {
      if (!concat->hasOneUse() || concat.getLossWeights() ||
          concat.getPropagateDown())
        return failure();
      clipped = concat.getXs();
    }
    SmallVector<ReLUOp> relus;
    for (Value value : clipped)
      if (ReLUOp relu = onlyReadReLU(value))
        relus.push_back(relu);
      else
        return failure();

    rewriter.setInsertionPointAfter(pool);
    auto after = ReLUOp::create(
        rewriter, relus.front().getLoc(), pool.getY().getType(), pool.getY(),
        relus.front().getLayerAttr(), pool.getTopsAttr(), nullptr, nullptr,
        relus.front().getNegativeSlopeAttr());
    rewriter.replaceAllUsesExcept(pool.getY(), after.getY(), after);
    // The blob's name now belongs to the new ReLU.
    auto unnamed = [&](Operation *op) {
      rewriter.modifyOpInPlace(
          op, [&] { op->setAttr("tops", rewriter.getStrArrayAttr({""})); });
    };
    unnamed(pool);
    if (concat)
      unnamed(concat);
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
