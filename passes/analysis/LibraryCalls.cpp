//===- LibraryCalls.cpp - Selection of vendor calls -----------------------===//
#include "passes/analysis/LibraryCalls.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Target/TargetDialect.h"
#include "plan/Contract.h"
#include "plan/Winograd.h"

using namespace mlir;
using namespace brew::dialects;

ConvolutionBackwardWeightsOp
brew::passes::splitBiasGradient(ConvolutionBackwardWeightsOp op, Value sum) {
  op.getDb().replaceAllUsesWith(sum);
  OpBuilder b(op);
  auto withoutBias = ConvolutionBackwardWeightsOp::create(
      b, op.getLoc(), op.getDw().getType(), Type(), op.getX(), op.getDy(),
      op.getLayerAttr(), op.getKernelAttr(), op.getStrideAttr(),
      op.getPadAttr(), op.getDilationAttr(), op.getGroupAttr());
  withoutBias->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getDw().replaceAllUsesWith(withoutBias.getDw());
  op.erase();
  return withoutBias;
}

bool brew::passes::usesLibrary(Operation *op, ArrayRef<std::string> disabled) {
  auto call = dyn_cast<LibraryInterface>(op);
  if (!call || llvm::is_contained(disabled, "all") ||
      llvm::is_contained(disabled, call.libraryGroup().str()))
    return false;
  Type element = elementTypeOf(op->getResult(0));
  return (element.isF32() || isNarrowFloat(element)) && call.hasLibraryCall();
}

void brew::passes::computeInF32(Operation *op) {
  OpBuilder b(op);
  auto widened = [&](Type type) -> Type {
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
    if (isNarrowFloat(elementTypeOf(operand.get())))
      operand.set(castTo(widened(operand.get().getType()), operand.get()));
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type narrow = result.getType();
    if (narrow == widened(narrow))
      continue;
    result.setType(widened(narrow));
    CastOp rounded = castTo(narrow, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}

/// Returns whether a slice allows vector access along the channels.
static bool isAligned(RankedTensorType type, int64_t offset) {
  constexpr auto accessBytes =
      static_cast<int64_t>(brew::plan::kKernelAccessBytes);
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  const SmallVector<int64_t> strides = memoryStrides(type);
  return type.getRank() == 4 && bytes > 0 && strides[1] == 1 &&
         offset * bytes % accessBytes == 0 &&
         type.getDimSize(1) * bytes % accessBytes == 0 &&
         llvm::all_of(ArrayRef<unsigned>{0, 2, 3}, [&](unsigned dim) {
           return strides[dim] * bytes % accessBytes == 0;
         });
}

bool brew::passes::readsSliceInPlace(OpOperand &use, RankedTensorType type,
                                     int64_t offset) {
  Operation *op = use.getOwner();
  const unsigned operandNumber = use.getOperandNumber();
  // Weights, biases and sums do not count as blobs.
  const bool isBlob =
      (isa<ConvolutionOp>(op) && operandNumber == 0) ||
      (isa<ConvolutionBackwardDataOp>(op) && operandNumber == 0) ||
      (isa<ConvolutionBackwardWeightsOp>(op) && operandNumber <= 1);
  return isBlob && dialects::target::isForGpu(op) && isAligned(type, offset);
}

/// Returns whether the runtime's CPU convolution writes slices directly: matrix
/// products (1x1) and Winograd algorithms do; others go through a copy.
static bool writesSliceOnCpu(ConvolutionOp op) {
  constexpr int64_t step = brew::plan::winograd::kChannelStep;
  auto allEqual = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [&](int64_t v) { return v == value; });
  };
  const RankedTensorType x = tensorTypeOf(op.getX()),
                         y = tensorTypeOf(op.getY());
  // In 16 bits direct writes are no faster than a copy.
  if (!x.getElementType().isF32() || op.getGroup() != 1 ||
      !allEqual(op.getStride(), 1) || !allEqual(op.getDilation(), 1) ||
      op.getPadEnd() || op.getSame())
    return false;
  if (allEqual(op.getKernel(), 1) && allEqual(op.getPad(), 0))
    return true;
  if (!allEqual(op.getKernel(), 3) || x.getDimSize(1) % step != 0 ||
      y.getDimSize(1) % step != 0)
    return false;
  const brew::plan::winograd::ConvolutionSize size = {
      brew::plan::FORWARD,
      y.getDimSize(0),
      y.getDimSize(2),
      y.getDimSize(3),
      x.getDimSize(1),
      y.getDimSize(1),
      /*isConstant=*/false,
      static_cast<int>(brew::dialects::target::cpuOf(op).getCores())};
  return brew::plan::winograd::fastestTile(size) != 0;
}

bool brew::passes::writesSliceInPlace(Value slice, RankedTensorType type,
                                      int64_t offset) {
  Operation *op = slice.getDefiningOp();
  if (!isAligned(type, offset))
    return false;
  auto forward = dyn_cast_or_null<ConvolutionOp>(op);
  if (forward && !dialects::target::isForGpu(op))
    return writesSliceOnCpu(forward);
  auto backwardData = dyn_cast_or_null<ConvolutionBackwardDataOp>(op);
  return op && (forward || (backwardData && !backwardData.getSum())) &&
         dialects::target::isForGpu(op);
}
