//===- SinkReluBelowMaxPool.cpp - Max pooling before the ReLU that it reads ----------===//
//
// The largest of clipped values is the largest value, clipped: a ReLU may stand
// behind the max pooling as well as before it, on a quarter of the elements.
// The backward pass then needs the pooled blob's signs, and that is stored for
// the next layer anyway, in place of those of the large blob.
//
// Gradients are the same: where the largest value is positive, its place in the
// window is; elsewhere they are zero, whatever the place. A slope below zero
// could make equal what is not, so ReLUs with one stay.
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

/// The ReLU that makes `value` for the one reader that it has.
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
    // Which of several zeros is the largest shows in a mask.
    if (pool.getMask() || pool.getLossWeights() || pool.getPropagateDown())
      return failure();
    // All parts of a joined blob are clipped, or none.
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
    // What has a blob's name now is another value.
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

struct SinkReluBelowMaxPoolPass : brew::passes::impl::SinkReluBelowMaxPoolBase<SinkReluBelowMaxPoolPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkReluBelowMaxPool>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
