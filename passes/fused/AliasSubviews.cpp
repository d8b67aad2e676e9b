//===- AliasSubviews.cpp - Joined and cut tensors share memory ------------===//
//
// Makes the operands of every brew.concat_view, and the results of every brew.subview,
// subviews of the whole: their type gets the whole's strides. Generated kernels
// read and write through any strides, on a GPU convolutions do where pixels are
// aligned, and on a CPU some write so; for what does not (other vendor calls,
// views of another shape, data layers) a nest copies.
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
  /// A subview that a value is to be: its type, and where it begins.
  struct Part {
    RankedTensorType type;
    int64_t offset; ///< elements, in what it is a part of
  };

  /// Whether the use, of a tensor of the program's block, follows the strides
  /// of that part.
  static bool followsStrides(OpOperand &use, const Part &part) {
    Operation *user = use.getOwner();
    return !isa<ProgramOp>(user->getParentOp()) || // inside a nest's body
           isa<linalg::GenericOp>(user) || user->hasTrait<AcceptsSubviews>() ||
           brew::passes::readsSliceInPlace(use, part.type, part.offset);
  }

  /// Whether the operand of a join can be made in its place.
  static bool canPlace(Value x, const Part &part) {
    Operation *source = x.getDefiningOp();
    if ((!isa<linalg::GenericOp, ConcatViewOp>(source) &&
         !brew::passes::writesSliceInPlace(x, part.type, part.offset)) ||
        isSubview(tensorTypeOf(x)))
      return false;
    unsigned joins = 0;
    for (OpOperand &use : x.getUses()) {
      if (isa<ConcatViewOp>(use.getOwner()))
        ++joins;
      else if (!followsStrides(use, part))
        return false;
    }
    return joins == 1;
  }

  /// A copy of `x`, with that type, made by a nest where the builder stands, in
  /// the pass of the net that makes x.
  static Value copy(OpBuilder &b, Operation *reason, Value x,
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

  /// Later joins come first: a join may itself become a subview of one.
  static void placeOperands(ConcatViewOp join) {
    auto whole = tensorTypeOf(join.getY());
    const auto axis = static_cast<unsigned>(join.getAxis());
    int64_t next = brew::passes::storageOf(join.getY()).offset;
    for (OpOperand &operand : join->getOpOperands()) {
      Value x = operand.get();
      RankedTensorType type = subviewOf(whole, shapeOf(x));
      const Part part = {type, next};
      next += type.getDimSize(axis) * memoryStrides(whole)[axis];
      if (canPlace(x, part)) {
        brew::passes::setResultType(cast<OpResult>(x), type);
        continue;
      }
      // Right behind its source, so that the source's bytes are soon free:
      // what reads it through strides can read the copy.
      OpBuilder b(join);
      if (Operation *source = x.getDefiningOp())
        b.setInsertionPointAfter(source);
      Value placed = copy(b, join, x, type);
      operand.set(placed);
      if (isa_and_nonnull<PlanStepInterface>(x.getDefiningOp()))
        x.replaceUsesWithIf(placed, [&](OpOperand &use) {
          return !isa<ConcatViewOp>(use.getOwner()) && followsStrides(use, part) &&
                 use.getOwner() != placed.getDefiningOp();
        });
    }
  }

  /// Whether a cut is its operand, in the same layout.
  static bool isIdentity(SubviewOp cut) {
    return llvm::all_of(cut.getOffsets(), [](int64_t at) { return at == 0; }) &&
           cut.getY().getType() == cut.getX().getType();
  }

  static void placeResult(SubviewOp cut) {
    Value y = cut.getY();
    RankedTensorType type = tensorTypeOf(y);
    y.setType(subviewOf(tensorTypeOf(cut.getX()), type.getShape()));
    const Part part = {tensorTypeOf(y), brew::passes::storageOf(y).offset};
    if (llvm::all_of(y.getUses(),
                     [&](OpOperand &use) { return followsStrides(use, part); }))
      return;
    OpBuilder b(cut);
    b.setInsertionPointAfter(cut);
    Value dense = copy(b, cut, y, type);
    y.replaceUsesWithIf(dense, [&](OpOperand &use) {
      return !followsStrides(use, part) &&
             use.getOwner() != dense.getDefiningOp();
    });
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      // First of all: who reads a subview decides whether it is copied.
      for (SubviewOp cut : llvm::make_early_inc_range(block.getOps<SubviewOp>()))
        if (isIdentity(cut)) {
          cut.getY().replaceAllUsesWith(cut.getX());
          cut.erase();
        }
      SmallVector<SubviewOp> cuts(block.getOps<SubviewOp>());
      SmallVector<ConcatViewOp> joins(block.getOps<ConcatViewOp>());
      for (ConcatViewOp join : llvm::reverse(joins)) {
        if (join.getY().use_empty())
          join.erase();
        else
          placeOperands(join);
      }
      for (SubviewOp cut : cuts)
        placeResult(cut);
    }
  }
};

} // namespace
