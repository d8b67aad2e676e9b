//===- FoldSplits.cpp - Removal of Split and Silence ----------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace brew::passes {
#define GEN_PASS_DEF_FOLDSPLITS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {
struct FoldSplit : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, SmallVector<Value>(op->getNumResults(), op.getX()));
    return success();
  }
};

struct EraseSilence : OpRewritePattern<SilenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SilenceOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct FoldSplits : brew::passes::impl::FoldSplitsBase<FoldSplits> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldSplit, EraseSilence>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
