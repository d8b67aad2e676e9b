//===- LibraryCalls.cpp - Which operations become vendor calls -------------===//
#include "dialects/Brew/layers/Convolution.h"
#include "passes/LibraryCalls.h"

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

/// Whether both paddings of every dimension can be taken as equal: a call has
/// one number for the two.
static bool isEvenlyPadded(ArrayRef<int64_t> x, ArrayRef<int64_t> y,
                           Operation *op) {
  auto list = [&](StringRef name) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
  };
  for (size_t i = 0; i < list("kernel").size(); ++i) {
    int64_t reach = list("dilation")[i] * (list("kernel")[i] - 1) + 1;
    int64_t room = x[2 + i] + 2 * list("pad")[i] - reach;
    if (room < 0 || room / list("stride")[i] + 1 != y[2 + i])
      return false;
  }
  return true;
}

static bool isConvolutionCall(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0);
  if (isa<ConvolutionBackwardDataOp, DeconvolutionOp>(op))
    std::swap(x, y);
  else if (isa<ConvolutionBackwardWeightsOp>(op))
    y = op->getOperand(1);
  return shapeOf(x).size() == 4 && isEvenlyPadded(shapeOf(x), shapeOf(y), op);
}

bool brew::usesLibrary(Operation *op, ArrayRef<std::string> disabled) {
  auto call = dyn_cast<LibraryInterface>(op);
  if (!call || llvm::is_contained(disabled, "all") ||
      llvm::is_contained(disabled, call.libraryGroup().str()))
    return false;
  if (!elementOf(op->getResult(0)).isF32())
    return false;
  // Calls are two-dimensional, with one dimension before the channels.
  if (auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel"))
    return kernel.size() == 2 && isConvolutionCall(op);
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
