//===- ValueStorage.cpp - Values in the bytes of others ---------------------===//
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
  return isa<KernelOp, PlanStepInterface>(op);
}

Value brew::passes::stripReshapes(Value value) {
  while (auto view = value.getDefiningOp<ReinterpretOp>())
    value = view.getX();
  return value;
}

bool brew::passes::isSetOnce(Value value) {
  auto feed = value.getDefiningOp<DataInputOp>();
  if (!feed)
    return false;
  const caffe::DataLayerKind *kind = caffe::findDataLayerKind(feed.getKind());
  return !kind ||
         !caffe::isRefilled(
             *kind, feed.getConfig().getLayer(),
             static_cast<int>(cast<OpResult>(value).getResultNumber()));
}

Place brew::passes::storageOf(Value value) {
  Place place{stripReshapes(value)};
  for (;;) {
    if (auto cut = place.owner.getDefiningOp<SubviewOp>()) {
      for (auto [at, stride] : llvm::zip_equal(
               cut.getOffsets(), memoryStrides(tensorTypeOf(cut.getX()))))
        place.offset += at * stride;
      place.owner = stripReshapes(cut.getX());
      continue;
    }
    ConcatViewOp whole;
    for (Operation *user : place.owner.getUsers())
      if (auto join = dyn_cast<ConcatViewOp>(user))
        whole = join;
    if (!whole)
      return place;
    int64_t axis = whole.getAxis();
    int64_t stride = memoryStrides(tensorTypeOf(whole.getY()))[axis];
    for (Value subview : whole.getXs()) {
      if (subview == place.owner)
        break;
      place.offset += shapeOf(subview)[axis] * stride;
    }
    place.owner = whole.getY();
  }
}
