//===- FuseEpilogue.cpp - ReLU into the vendor call before it -------------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace brew {
#define GEN_PASS_DEF_FUSEEPILOGUE
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {
struct FuseReLU : OpRewritePattern<ReLUOp> {
  FuseReLU(MLIRContext *context, bool plainProducts)
      : OpRewritePattern(context), plainProducts(plainProducts) {}

  LogicalResult matchAndRewrite(ReLUOp relu,
                                PatternRewriter &rewriter) const override {
    Operation *producer = relu.getX().getDefiningOp();
    if (!isa_and_nonnull<ConvolutionOp, InnerProductOp>(producer) ||
        producer->hasAttr("relu") || !relu.getX().hasOneUse())
      return failure();
    if (plainProducts && isa<InnerProductOp>(producer) &&
        !relu.getNegativeSlope().isZero())
      return failure();
    rewriter.modifyOpInPlace(producer, [&] {
      producer->setAttr("relu", rewriter.getF32FloatAttr(
                                    relu.getNegativeSlope().convertToFloat()));
      producer->setLoc(
          rewriter.getFusedLoc({producer->getLoc(), relu.getLoc()}));
      producer->setAttr(
          "layer", rewriter.getStringAttr(
                       producer->getAttrOfType<StringAttr>("layer").getValue() +
                       "+" + relu.getLayer()));
    });
    rewriter.replaceOp(relu, relu.getX());
    return success();
  }

  bool plainProducts;
};

struct FuseEpilogue : brew::impl::FuseEpilogueBase<FuseEpilogue> {
  using FuseEpilogueBase::FuseEpilogueBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseReLU>(
        &getContext(),
        !brew::targetir::libraryOf(getOperation()).getLeakyProducts());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
