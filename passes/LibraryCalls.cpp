//===- LibraryCalls.cpp - Which operations become vendor calls
//-------------===//
#include "passes/LibraryCalls.h"
#include "dialects/Brew/layers/Precision.h"

using namespace mlir;
using namespace brew::ir;

/// Whether the dimensions of `type` before `axis` are, in memory, all outside
/// those from it on: then the tensor is a matrix.
static bool isMatrix(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> order = memoryOrder(type);
  for (int64_t i = 0; i < axis; ++i)
    if (order[i] != i && type.getDimSize(order[i]) != 1)
      return false;
  return true;
}

int64_t brew::endPadding(int64_t x, int64_t y, const CallWindow &window) {
  const int64_t reach = window.dilation * (window.kernel - 1) + 1;
  const int64_t room = x + 2 * window.pad - reach;
  if (room >= 0 && room / window.stride + 1 == y)
    return window.pad;
  return (y - 1) * window.stride + reach - x - window.pad;
}

/// Whether there is a call for a convolution: one to three dimensions, with one
/// before the channels, padded by nothing negative on either side.
static bool isConvolutionCall(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0);
  if (isa<ConvolutionBackwardDataOp, DeconvolutionOp>(op))
    std::swap(x, y);
  else if (isa<ConvolutionBackwardWeightsOp>(op))
    y = op->getOperand(1);
  auto list = [&](StringRef name) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
  };
  const size_t spatial = list("kernel").size();
  if (spatial < 1 || spatial > 3 || shapeOf(x).size() != spatial + 2)
    return false;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t pad = list("pad")[i];
    const int64_t end = brew::endPadding(
        shapeOf(x)[2 + i], shapeOf(y)[2 + i],
        {list("kernel")[i], list("stride")[i], pad, list("dilation")[i]});
    if (pad < 0 || end < 0)
      return false;
  }
  return true;
}

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
  if (!element.isF32() && !isNarrowFloat(element))
    return false;
  if (op->hasAttr("kernel"))
    return isConvolutionCall(op);
  Value x = op->getOperand(0), w = op->getResult(0);
  if (isa<InnerProductOp>(op))
    w = op->getOperand(1);
  if (isa<InnerProductBackwardDataOp>(op))
    std::tie(x, w) = std::pair(op->getResult(0), op->getOperand(1));
  int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  // The call pairs the dimensions of x and w one by one.
  return axis > 0 && isMatrix(tensorOf(x), axis) &&
         tensorOf(w).getRank() == tensorOf(x).getRank() - axis + 1;
}
