//===- FoldFlatten.cpp - Folding of views into inner products -------------===//
//
// An inner product flattens all dimensions from its axis on anyway. If it reads
// the blob before the flatten, its weights follow that blob's layout, and the
// blob need not be row-major.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"

namespace brew::passes {
#define GEN_PASS_DEF_FOLDFLATTEN
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {
struct FoldFlatten : brew::passes::impl::FoldFlattenBase<FoldFlatten> {
  void runOnOperation() override {
    getOperation().walk([](InnerProductOp product) {
      Operation *view = product.getX().getDefiningOp();
      // A pinned blob, or one with other readers, keeps its shape.
      if (!isa_and_nonnull<FlattenOp, ReshapeOp, SqueezeOp>(view) ||
          !view->hasOneUse() || view->hasAttr("loss_weights") ||
          view->hasAttr("propagate_down"))
        return;
      Value x = view->getOperand(0);
      int64_t axis = product.getAxis();
      ArrayRef<int64_t> from = shapeOf(x), to = shapeOf(product.getX());
      if (axis >= static_cast<int64_t>(from.size()) ||
          from.take_front(axis) != to.take_front(axis))
        return;
      product.getXMutable().assign(x);
      view->erase();
    });
  }
};
} // namespace
