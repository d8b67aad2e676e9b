//===- FuseEpilogue.cpp - ReLU into the vendor call before it
//--------------===//
#include "dialects/Brew/layers/Convolution.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace brew {
#define GEN_PASS_DEF_FUSEEPILOGUE
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {
struct FuseEpilogue : brew::impl::FuseEpilogueBase<FuseEpilogue> {
  using FuseEpilogueBase::FuseEpilogueBase;

  void runOnOperation() override {
    getOperation().walk([&](ReLUOp relu) {
      Operation *producer = relu.getX().getDefiningOp();
      if (!isa_and_nonnull<ConvolutionOp, InnerProductOp>(producer) ||
          producer->hasAttr("relu") || !relu.getX().hasOneUse())
        return;
      if (plainProducts && isa<InnerProductOp>(producer) &&
          !relu.getNegativeSlope().isZero())
        return;
      Builder b(&getContext());
      producer->setAttr(
          "relu", b.getF32FloatAttr(relu.getNegativeSlope().convertToFloat()));
      producer->setLoc(b.getFusedLoc({producer->getLoc(), relu.getLoc()}));
      producer->setAttr(
          "layer", b.getStringAttr(
                       producer->getAttrOfType<StringAttr>("layer").getValue() +
                       "+" + relu.getLayer()));
      relu.getY().replaceAllUsesWith(relu.getX());
      relu.erase();
    });
  }
};
} // namespace
