//===- AliasSubviews.cpp - Subviews with shared memory --------------------===//
//
// Turns the operands of every brew.concat_view and the results of every
// brew.subview into subviews: their types get the strides of the full tensor.
// Generated kernels support any strides. So do convolutions on a GPU, if pixels
// are aligned, and some convolutions on a CPU, for their results. For other
// users (vendor calls, views of another shape, data layers), a nest copies the
// tensor.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/fused/NestTypes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {
#define GEN_PASS_DEF_ALIASSUBVIEWS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

struct AliasSubviews : brew::passes::impl::AliasSubviewsBase<AliasSubviews> {
  /// Type and offset of a subview.
  struct Slice {
    RankedTensorType type;
    int64_t offset; ///< in elements of the full tensor
  };

  /// Returns whether the user of a tensor supports the strides of `slice`.
  static bool followsStrides(OpOperand &use, const Slice &slice) {
    Operation *user = use.getOwner();
    return !isa<ProgramOp>(user->getParentOp()) || // inside a nest's body
           isa<linalg::GenericOp>(user) || user->hasTrait<AcceptsSubviews>() ||
           brew::passes::readsSliceInPlace(use, slice.type, slice.offset);
  }

  /// Returns whether the producer of `x` can write into the concatenated
  /// tensor.
  static bool canAlias(Value x, const Slice &slice) {
    Operation *source = x.getDefiningOp();
    if ((!isa<linalg::GenericOp, ConcatViewOp>(source) &&
         !brew::passes::writesSliceInPlace(x, slice.type, slice.offset)) ||
        isSubview(tensorTypeOf(x)))
      return false;
    unsigned concats = 0;
    for (OpOperand &use : x.getUses()) {
      if (isa<ConcatViewOp>(use.getOwner()))
        ++concats;
      else if (!followsStrides(use, slice))
        return false;
    }
    return concats == 1;
  }

  /// Copies `x` to a tensor of `type` by a nest that belongs to the pass of the
  /// net that computes `x`.
  static Value buildCopy(OpBuilder &b, Operation *reason, Value x,
                         RankedTensorType type) {
    NestBuilder nest(b, reason->getLoc(), type.getShape());
    nest.input(x, iota(type.getRank()));
    nest.output(type, iota(type.getRank()));
    Value result =
        nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.in[0]};
        })[0];
    Origin origin = Origin::of(reason);
    if (Operation *source = x.getDefiningOp())
      origin.isBackward = Origin::of(source).isBackward;
    origin.mark(result.getDefiningOp());
    return result;
  }

  /// Turns the operands of `concat` into subviews. Call it for later operations
  /// first: an operand may be the result of a concatenation.
  static void aliasOperands(ConcatViewOp concat) {
    auto full = tensorTypeOf(concat.getY());
    const auto axis = static_cast<unsigned>(concat.getAxis());
    int64_t next = brew::passes::storageOf(concat.getY()).offset;
    for (OpOperand &operand : concat->getOpOperands()) {
      Value x = operand.get();
      RankedTensorType type = subviewOf(full, shapeOf(x));
      const Slice slice = {type, next};
      next += type.getDimSize(axis) * memoryStrides(full)[axis];
      if (canAlias(x, slice)) {
        brew::passes::setResultType(cast<OpResult>(x), type);
        continue;
      }
      // Copy right after the producer, so that its bytes are soon free: users
      // that support strides can read the copy.
      OpBuilder b(concat);
      if (Operation *source = x.getDefiningOp())
        b.setInsertionPointAfter(source);
      Value copied = buildCopy(b, concat, x, type);
      operand.set(copied);
      if (isa_and_nonnull<PlanStepInterface>(x.getDefiningOp()))
        x.replaceUsesWithIf(copied, [&](OpOperand &use) {
          return !isa<ConcatViewOp>(use.getOwner()) &&
                 followsStrides(use, slice) &&
                 use.getOwner() != copied.getDefiningOp();
        });
    }
  }

  /// Returns whether `subview` is its full operand, in the same layout.
  static bool isIdentity(SubviewOp subview) {
    return llvm::all_of(subview.getOffsets(),
                        [](int64_t offset) { return offset == 0; }) &&
           subview.getY().getType() == subview.getX().getType();
  }

  static void aliasResult(SubviewOp subview) {
    Value y = subview.getY();
    RankedTensorType type = tensorTypeOf(y);
    y.setType(subviewOf(tensorTypeOf(subview.getX()), type.getShape()));
    const Slice slice = {tensorTypeOf(y), brew::passes::storageOf(y).offset};
    if (llvm::all_of(y.getUses(), [&](OpOperand &use) {
          return followsStrides(use, slice);
        }))
      return;
    OpBuilder b(subview);
    b.setInsertionPointAfter(subview);
    Value dense = buildCopy(b, subview, y, type);
    y.replaceUsesWithIf(dense, [&](OpOperand &use) {
      return !followsStrides(use, slice) &&
             use.getOwner() != dense.getDefiningOp();
    });
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    Block &block = program.getBody().front();
    // Erase identities first, because the users of a subview decide whether
    // it is copied.
    for (SubviewOp subview :
         llvm::make_early_inc_range(block.getOps<SubviewOp>()))
      if (isIdentity(subview)) {
        subview.getY().replaceAllUsesWith(subview.getX());
        subview.erase();
      }
    SmallVector<SubviewOp> subviews(block.getOps<SubviewOp>());
    SmallVector<ConcatViewOp> concats(block.getOps<ConcatViewOp>());
    for (ConcatViewOp concat : llvm::reverse(concats)) {
      if (concat.getY().use_empty())
        concat.erase();
      else
        aliasOperands(concat);
    }
    for (SubviewOp subview : subviews)
      aliasResult(subview);
  }
};

} // namespace
