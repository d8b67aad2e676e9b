//===- FoldInputConversions.cpp - Image conversions in data inputs --------===//
//
// On a GPU, a kernel converts the pixels of a data input to the image blob. The
// pass makes this kernel also round to 16 bits and pad channels, so that layers
// read its result directly, without another kernel for the cast. Without such a
// kernel, the CPU writes the blob in the type of the data input's result.
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

/// Returns whether a kernel can compute the data input's first blob from
/// pixels.
bool canConvertFromPixels(DataInputOp dataInput) {
  const auto *kind = brew::caffe::findDataLayerKind(dataInput.getKind());
  return kind && kind->hasImages() && !dataInput.getImageSizesVary() &&
         brew::caffe::recordSelectionOf(dataInput.getConfig().getLayer())
                 .imagesPerItem == 1 &&
         shapeOf(dataInput.getValues()[0]).size() == 4;
}

/// Returns whether `op` only appends channels.
bool onlyAppendsChannels(ZeroPadOp op) {
  ArrayRef<int64_t> x = shapeOf(op.getX()), y = shapeOf(op.getY());
  for (size_t dim = 0; dim < x.size(); ++dim)
    if (op.getOffsets()[dim] || (dim != 1 && x[dim] != y[dim]))
      return false;
  return true;
}

/// The casts and zero pads that read an image.
struct ImageReaders {
  SmallVector<CastOp> casts;
  SmallVector<ZeroPadOp> pads;

  /// Collects the users of `value`. Returns false if there are other users.
  bool collect(Value value, bool mayPad = true) {
    for (Operation *user : value.getUsers()) {
      if (auto cast = dyn_cast<CastOp>(user)) {
        if (!isNarrowFloat(elementTypeOf(cast.getY())))
          return false;
        casts.push_back(cast);
        continue;
      }
      auto pad = dyn_cast<ZeroPadOp>(user);
      if (!mayPad || !pad || !onlyAppendsChannels(pad) ||
          !collect(pad.getY(), /*mayPad=*/false))
        return false;
      pads.push_back(pad);
    }
    return true;
  }
  /// Returns whether there are casts, all to the same type.
  bool haveOneType() {
    return !casts.empty() && llvm::all_of(casts, [&](CastOp cast) {
      return cast.getY().getType() == casts.front().getY().getType();
    });
  }
};

struct FoldInputConversions
    : brew::passes::impl::FoldInputConversionsBase<FoldInputConversions> {
  void runOnOperation() override {
    SmallVector<DataInputOp>
        dataInputs; // collected first: folding erases operations
    getOperation().walk(
        [&](DataInputOp dataInput) { dataInputs.push_back(dataInput); });
    for (DataInputOp dataInput : dataInputs)
      if (brew::dialects::target::isForGpu(dataInput) &&
          canConvertFromPixels(dataInput))
        foldConversions(dataInput);
  }

private:
  static void foldConversions(DataInputOp dataInput) {
    Value image = dataInput.getValues()[0];
    ImageReaders readers;
    if (!readers.collect(image) || !readers.haveOneType())
      return;
    const Type type = readers.casts.front().getY().getType();
    const int64_t channels = shapeOf(image)[1];
    image.setType(type);
    if (shapeOf(image)[1] != channels)
      dataInput.setChannels(channels);
    for (CastOp cast : readers.casts) {
      cast.getY().replaceAllUsesWith(image);
      cast.erase();
    }
    for (ZeroPadOp pad : readers.pads)
      pad.erase();
  }
};

} // namespace
