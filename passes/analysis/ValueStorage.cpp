//===- ValueStorage.cpp - Storage of values -------------------------------===//
#include "passes/analysis/ValueStorage.h"

#include "caffe/DataLayerKinds.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/shape/Shape.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

int64_t brew::passes::bytesOf(RankedTensorType type) {
  return memrefTypeOf(type).getNumElements() *
         llvm::divideCeil(memrefTypeOf(type).getElementTypeBitWidth(), 8);
}

bool brew::passes::isStep(Operation *op) {
  return isa<KernelOp, LoopOp, PlanStepInterface>(op);
}

Value brew::passes::stripReshapes(Value value) {
  while (auto view = value.getDefiningOp<ReinterpretOp>())
    value = view.getX();
  return value;
}

bool brew::passes::isSetOnce(Value value) {
  auto dataInput = value.getDefiningOp<DataInputOp>();
  if (!dataInput)
    return false;
  const caffe::DataLayerKind *kind =
      caffe::findDataLayerKind(dataInput.getKind());
  return !kind ||
         !caffe::isRefilled(
             *kind, dataInput.getConfig().getLayer(),
             static_cast<int>(cast<OpResult>(value).getResultNumber()));
}

Storage brew::passes::storageOf(Value value) {
  Storage storage{stripReshapes(value)};
  for (;;) {
    if (auto subview = storage.base.getDefiningOp<SubviewOp>()) {
      for (auto [offset, stride] :
           llvm::zip_equal(subview.getOffsets(),
                           memoryStrides(tensorTypeOf(subview.getX()))))
        storage.offset += offset * stride;
      storage.base = stripReshapes(subview.getX());
      continue;
    }
    ConcatViewOp concat;
    for (Operation *user : storage.base.getUsers())
      if (auto view = dyn_cast<ConcatViewOp>(user))
        concat = view;
    if (!concat)
      return storage;
    int64_t axis = concat.getAxis();
    int64_t stride = memoryStrides(tensorTypeOf(concat.getY()))[axis];
    for (Value operand : concat.getXs()) {
      if (operand == storage.base)
        break;
      storage.offset += shapeOf(operand)[axis] * stride;
    }
    storage.base = concat.getY();
  }
}
