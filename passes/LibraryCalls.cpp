//===- LibraryCalls.cpp - Which operations become vendor calls ------------===//
#include "passes/LibraryCalls.h"
#include "dialects/Brew/layers/precision/Precision.h"

using namespace mlir;
using namespace brew::ir;

ConvolutionBackwardWeightsOp
brew::splitBiasGradient(ConvolutionBackwardWeightsOp op, Value sum) {
  op.getDb().replaceAllUsesWith(sum);
  OpBuilder b(op);
  auto alone = ConvolutionBackwardWeightsOp::create(
      b, op.getLoc(), op.getDw().getType(), Type(), op.getX(), op.getDy(),
      op.getLayerAttr(), op.getKernelAttr(), op.getStrideAttr(),
      op.getPadAttr(), op.getDilationAttr(), op.getGroupAttr());
  alone->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getDw().replaceAllUsesWith(alone.getDw());
  op.erase();
  return alone;
}

bool brew::usesLibrary(Operation *op, ArrayRef<std::string> disabled) {
  auto call = dyn_cast<LibraryInterface>(op);
  if (!call || llvm::is_contained(disabled, "all") ||
      llvm::is_contained(disabled, call.libraryGroup().str()))
    return false;
  Type element = elementOf(op->getResult(0));
  return (element.isF32() || isNarrowFloat(element)) && call.hasCall();
}
