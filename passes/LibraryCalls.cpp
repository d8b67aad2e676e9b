//===- LibraryCalls.cpp - Which operations become vendor calls ------------===//
#include "passes/LibraryCalls.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Target/TargetDialect.h"
#include "runtime/plan/Contract.h"

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

/// Whether vectors of channels can be read and written where the part lies.
static bool isAligned(RankedTensorType type, int64_t offset) {
  constexpr auto access = static_cast<int64_t>(plan::kKernelAccessBytes);
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  const SmallVector<int64_t> strides = memoryStrides(type);
  return type.getRank() == 4 && bytes > 0 && strides[1] == 1 &&
         offset * bytes % access == 0 &&
         type.getDimSize(1) * bytes % access == 0 &&
         llvm::all_of(ArrayRef<unsigned>{0, 2, 3}, [&](unsigned dim) {
           return strides[dim] * bytes % access == 0;
         });
}

bool brew::readsPart(OpOperand &use, RankedTensorType type, int64_t offset) {
  Operation *op = use.getOwner();
  const unsigned number = use.getOperandNumber();
  // The weights come second; a sum lies where the result does.
  const bool isBlob = (isa<ConvolutionOp>(op) && number == 0) ||
                      (isa<ConvolutionBackwardDataOp>(op) && number == 0) ||
                      (isa<ConvolutionBackwardWeightsOp>(op) && number <= 1);
  return isBlob && targetir::isForGpu(op) && isAligned(type, offset);
}

bool brew::makesPart(Value part, RankedTensorType type, int64_t offset) {
  Operation *op = part.getDefiningOp();
  auto data = dyn_cast_or_null<ConvolutionBackwardDataOp>(op);
  const bool isBlob =
      isa_and_nonnull<ConvolutionOp>(op) || (data && !data.getSum());
  return isBlob && targetir::isForGpu(op) && isAligned(type, offset);
}
