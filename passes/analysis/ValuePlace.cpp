//===- ValuePlace.cpp - Values in the bytes of others ---------------------===//
#include "passes/ValuePlace.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "formats/FeedKinds.h"

using namespace mlir;
using namespace brew;
using namespace brew::ir;

int64_t brew::bytesOf(RankedTensorType type) {
  return memrefOf(type).getNumElements() *
         llvm::divideCeil(memrefOf(type).getElementTypeBitWidth(), 8);
}

bool brew::isStep(Operation *op) { return isa<KernelOp, CallInterface>(op); }

Value brew::ownerOf(Value value) {
  while (auto view = value.getDefiningOp<ReinterpretOp>())
    value = view.getX();
  return value;
}

bool brew::isSetOnce(Value value) {
  auto feed = value.getDefiningOp<FeedOp>();
  if (!feed)
    return false;
  const formats::FeedKind *kind = formats::findFeedKind(feed.getKind());
  return !kind ||
         !formats::isRefilled(
             *kind, feed.getConfig().getLayer(),
             static_cast<int>(cast<OpResult>(value).getResultNumber()));
}

Place brew::placeOf(Value value) {
  Place place{ownerOf(value)};
  for (;;) {
    if (auto cut = place.owner.getDefiningOp<CutOp>()) {
      for (auto [at, stride] : llvm::zip_equal(
               cut.getOffsets(), memoryStrides(tensorOf(cut.getX()))))
        place.offset += at * stride;
      place.owner = ownerOf(cut.getX());
      continue;
    }
    JoinOp whole;
    for (Operation *user : place.owner.getUsers())
      if (auto join = dyn_cast<JoinOp>(user))
        whole = join;
    if (!whole)
      return place;
    int64_t axis = whole.getAxis();
    int64_t stride = memoryStrides(tensorOf(whole.getY()))[axis];
    for (Value subview : whole.getXs()) {
      if (subview == place.owner)
        break;
      place.offset += shapeOf(subview)[axis] * stride;
    }
    place.owner = whole.getY();
  }
}
