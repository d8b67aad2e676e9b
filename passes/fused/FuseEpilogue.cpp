//===- FuseEpilogue.cpp - ReLUs and sums in vendor calls ------------------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/ElementwiseAdd.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSEEPILOGUE
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {
/// Returns the name of a fused layer: "first+second".
StringAttr fusedName(Operation *first, Operation *second) {
  auto name = [](Operation *op) {
    return op->getAttrOfType<StringAttr>("layer").getValue();
  };
  return StringAttr::get(first->getContext(), name(first) + "+" + name(second));
}

/// Returns whether a call at `call` can add to `value` in place: the value is
/// computed before it, and from there on only `sum` reads it.
bool canAccumulateAt(Value value, Operation *call, Operation *sum) {
  Operation *producer = value.getDefiningOp();
  return producer && producer->isBeforeInBlock(call) &&
         !producer->hasTrait<IsInput>() &&
         !producer->hasTrait<IsPersistentRead>() &&
         !producer->hasTrait<IsView>() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           user = call->getBlock()->findAncestorOpInBlock(*user);
           return user == sum ||
                  (user->isBeforeInBlock(call) && !user->hasTrait<IsSink>() &&
                   !user->hasTrait<IsView>());
         });
}

struct FuseReLU : OpRewritePattern<ReLUOp> {
  FuseReLU(MLIRContext *context, bool plainProducts)
      : OpRewritePattern(context), plainProducts(plainProducts) {}

  LogicalResult matchAndRewrite(ReLUOp relu,
                                PatternRewriter &rewriter) const override {
    Operation *producer = relu.getX().getDefiningOp();
    if (!isa_and_nonnull<ConvolutionOp, ConvolutionSumOp, InnerProductOp>(
            producer) ||
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
      producer->setAttr("layer", fusedName(producer, relu));
    });
    rewriter.replaceOp(relu, relu.getX());
    return success();
  }

  bool plainProducts; ///< inner products support no fused leaky ReLU
};

/// Fuses the sum of two blobs into the convolution before it, at inference. In
/// training, the backward pass usually reads the other blob again.
struct FuseSum : OpRewritePattern<EltwiseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(EltwiseOp eltwise,
                                PatternRewriter &rewriter) const override {
    auto program = eltwise->getParentOfType<ProgramOp>();
    if (program.getRole() != ProgramRole::Deploy ||
        eltwise.getKind() != EltwiseKind::Sum || eltwise.getXs().size() != 2 ||
        llvm::any_of(eltwise.getCoeff(), [](float c) { return c != 1; }) ||
        llvm::any_of(eltwise->getUsers(), [](Operation *user) {
          return user->hasTrait<IsView>(); // may require another layout
        }))
      return failure();
    // Choose the later of two convolutions, so that the other's result is
    // available.
    ConvolutionOp conv;
    Value sum;
    for (unsigned i : {0, 1}) {
      auto candidate = eltwise.getXs()[i].getDefiningOp<ConvolutionOp>();
      Value other = eltwise.getXs()[1 - i];
      if (candidate && candidate.getY().hasOneUse() && !candidate.getRelu() &&
          candidate.getX() != other &&
          canAccumulateAt(other, eltwise, eltwise) &&
          (!conv || conv->isBeforeInBlock(candidate))) {
        conv = candidate;
        sum = other;
      }
    }
    if (!conv)
      return failure();
    auto fused = ConvolutionSumOp::create(
        rewriter, rewriter.getFusedLoc({conv.getLoc(), eltwise.getLoc()}),
        eltwise.getY().getType(), conv.getX(), conv.getW(), sum, conv.getB(),
        fusedName(conv, eltwise), eltwise.getTopsAttr(), conv.getKernelAttr(),
        conv.getStrideAttr(), conv.getPadAttr(), conv.getDilationAttr(),
        conv.getGroupAttr(), nullptr);
    rewriter.replaceOp(eltwise, fused);
    rewriter.eraseOp(conv);
    return success();
  }
};

/// Fuses the sum of a blob's gradients from two readers into the later one, if
/// that is a convolution: its call adds to the other gradient.
struct FuseGradientSum : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp nest,
                                PatternRewriter &rewriter) const override {
    if (!brew::passes::isElementwiseAdd(nest))
      return failure();
    for (unsigned i : {0, 1}) {
      auto backwardData =
          nest.getInputs()[i].getDefiningOp<ConvolutionBackwardDataOp>();
      Value other = nest.getInputs()[1 - i];
      if (!backwardData || backwardData.getSum() ||
          !backwardData.getDx().hasOneUse() ||
          other.getType() != backwardData.getDx().getType() ||
          !canAccumulateAt(other, backwardData, nest))
        continue;
      rewriter.modifyOpInPlace(
          backwardData, [&] { backwardData.getSumMutable().assign(other); });
      rewriter.replaceOp(nest, backwardData.getDx());
      return success();
    }
    return failure();
  }
};

struct FuseEpilogue : brew::passes::impl::FuseEpilogueBase<FuseEpilogue> {
  using FuseEpilogueBase::FuseEpilogueBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseReLU>(
        &getContext(),
        !brew::dialects::target::libraryOf(getOperation()).getFusedLeakyRelu());
    // cuDNN adds in extra passes over the result, generated code in one.
    if (!brew::dialects::target::isForGpu(getOperation()))
      patterns.add<FuseSum>(&getContext());
    else // oneDNN adds data gradients in extra passes
      patterns.add<FuseGradientSum>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
