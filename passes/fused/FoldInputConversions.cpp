//===- FoldInputConversions.cpp - Images arrive as their readers want them -----------===//
//
// A GPU makes images of pixels by a kernel, which rounds and pads as well as it
// subtracts the mean: what a layer in 16 bits reads is written at once, instead
// of an f32 blob that another kernel reads. Where no kernel does, the host
// writes the blob as it is declared.
//
//===----------------------------------------------------------------------===//
#include "caffe/DataLayerKinds.h"
#include "caffe/RecordSelection.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_FOLDINPUTCONVERSIONS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Whether a kernel can make the feed's first blob of pixels.
bool hasPixels(DataInputOp feed) {
  const auto *kind = brew::caffe::findDataLayerKind(feed.getKind());
  return kind && kind->hasImages() &&
         brew::caffe::recordSelectionOf(feed.getConfig().getLayer()).imagesPerItem ==
             1 &&
         shapeOf(feed.getValues()[0]).size() == 4;
}

/// Whether `op` only adds channels behind those of what it pastes.
bool addsChannels(ZeroPadOp op) {
  ArrayRef<int64_t> x = shapeOf(op.getX()), y = shapeOf(op.getY());
  for (size_t dim = 0; dim < x.size(); ++dim)
    if (op.getOffsets()[dim] || (dim != 1 && x[dim] != y[dim]))
      return false;
  return true;
}

/// What is read of an image in the end, if all of it is of one type.
struct Readers {
  SmallVector<CastOp> casts;
  SmallVector<ZeroPadOp> pastes;

  bool collect(Value value, bool mayPaste = true) {
    for (Operation *user : value.getUsers()) {
      if (auto cast = dyn_cast<CastOp>(user)) {
        if (!isNarrowFloat(elementTypeOf(cast.getY())))
          return false;
        casts.push_back(cast);
        continue;
      }
      auto paste = dyn_cast<ZeroPadOp>(user);
      if (!mayPaste || !paste || !addsChannels(paste) ||
          !collect(paste.getY(), /*mayPaste=*/false))
        return false;
      pastes.push_back(paste);
    }
    return true;
  }
  bool areAlike() {
    return !casts.empty() && llvm::all_of(casts, [&](CastOp cast) {
      return cast.getY().getType() == casts.front().getY().getType();
    });
  }
};

struct FoldInputConversions : brew::passes::impl::FoldInputConversionsBase<FoldInputConversions> {
  void runOnOperation() override {
    SmallVector<DataInputOp> feeds; // folding erases what comes next
    getOperation().walk([&](DataInputOp feed) { feeds.push_back(feed); });
    for (DataInputOp feed : feeds)
      if (brew::dialects::target::isForGpu(feed) && hasPixels(feed))
        fold(feed);
  }

private:
  static void fold(DataInputOp feed) {
    Value image = feed.getValues()[0];
    Readers readers;
    if (!readers.collect(image) || !readers.areAlike())
      return;
    const Type type = readers.casts.front().getY().getType();
    const int64_t channels = shapeOf(image)[1];
    image.setType(type);
    if (shapeOf(image)[1] != channels)
      feed.setChannels(channels);
    for (CastOp cast : readers.casts) {
      cast.getY().replaceAllUsesWith(image);
      cast.erase();
    }
    for (ZeroPadOp paste : readers.pastes)
      paste.erase();
  }
};

} // namespace
