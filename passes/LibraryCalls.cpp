//===- LibraryCalls.cpp - Which operations become vendor calls ------------===//
#include "passes/LibraryCalls.h"
#include "dialects/Brew/Origin.h"
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

void brew::computeWide(Operation *op) {
  OpBuilder b(op);
  auto wide = [&](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return isNarrowFloat(tensor.getElementType())
               ? RankedTensorType::get(tensor.getShape(), b.getF32Type(),
                                       tensor.getEncoding())
               : tensor;
  };
  const Origin origin = Origin::of(op);
  auto castTo = [&](Type type, Value x) {
    auto cast = CastOp::create(b, op->getLoc(), type, x, origin.layer);
    origin.mark(cast);
    return cast;
  };
  for (OpOperand &operand : op->getOpOperands())
    if (isNarrowFloat(elementOf(operand.get())))
      operand.set(castTo(wide(operand.get().getType()), operand.get()));
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type narrow = result.getType();
    if (narrow == wide(narrow))
      continue;
    result.setType(wide(narrow));
    CastOp rounded = castTo(narrow, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}
