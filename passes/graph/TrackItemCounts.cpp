//===- TrackItemCounts.cpp - Item counts known at run time ----------------===//
#include "dialects/Brew/ItemCounts.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace brew::passes {
#define GEN_PASS_DEF_TRACKITEMCOUNTS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::BlobValue;

namespace {
struct TrackItemCounts
    : brew::passes::impl::TrackItemCountsBase<TrackItemCounts> {
  /// Propagates the item counts of the operands of `op` to its results. Reports
  /// an error if `op` needs all items of an operand that has an item count.
  static LogicalResult propagate(Operation *op, ItemCounts &counts) {
    if (auto layer = dyn_cast<ItemCountInterface>(op))
      return layer.propagateItemCounts(counts);
    if (auto layer = dyn_cast<ScalarBodyInterface>(op))
      return counts.propagateElementwise(layer);
    if (isa<SplitOp>(op)) {
      if (Value count = counts.of(op->getOperand(0)))
        for (Value result : op->getResults())
          counts.set(result, count);
      return success();
    }
    if (op->hasTrait<IsSink>() || isa<SilenceOp>(op))
      return success();
    for (Value operand : op->getOperands())
      if (failed(counts.requireAllItems(op, operand)))
        return failure();
    return success();
  }

  /// Rejects a loss top with a dynamic number of items: the sum over its items
  /// would have to be masked, and no layer of Caffe produces such a top.
  static LogicalResult checkLoss(Operation *op, ItemCounts &counts) {
    auto weights = op->getAttrOfType<DenseF32ArrayAttr>("loss_weights");
    if (!weights)
      return success();
    for (auto [weight, top] : llvm::zip(weights.asArrayRef(), op->getResults()))
      if (weight != 0 && counts.of(top))
        return counts.reject(op, top,
                             "a top whose number of items is only known at run "
                             "time cannot have a loss_weight; reduce it first");
    return success();
  }

  /// Returns the blob name of `value`, or null if it has none.
  static StringAttr blobOf(Value value) {
    auto result = dyn_cast<OpResult>(value);
    auto tops = result ? result.getOwner()->getAttrOfType<ArrayAttr>("tops")
                       : ArrayAttr();
    if (!tops || result.getResultNumber() >= tops.size())
      return {};
    return cast<StringAttr>(tops[result.getResultNumber()]);
  }

  /// Pins the item count of every value that can be read after a run.
  static void pinCounts(ProgramOp program, const ItemCounts &counts) {
    llvm::StringSet<> pinnedBlobs;
    auto b = OpBuilder::atBlockEnd(&program.getBody().front());
    auto pinCount = [&](Value value, StringAttr blob) {
      if (Value count = blob ? counts.of(value) : Value())
        if (pinnedBlobs.insert(blob.getValue()).second)
          PinOp::create(b, value.getLoc(), count, BlobValue::Count,
                        blob.getValue());
    };
    SmallVector<Operation *> ops;
    for (Operation &op : program.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (auto output = dyn_cast<OutputOp>(op))
        pinCount(output.getValue(), output.getBlobAttr());
      else if (auto pin = dyn_cast<PinOp>(op))
        pinCount(pin.getValue(), pin.getBlobAttr());
      else if (auto pin = dyn_cast<PinLayerValueOp>(op))
        pinCount(pin.getValue(), blobOf(pin.getValue()));
    }
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    ItemCounts counts;
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
      if (failed(propagate(&op, counts)) || failed(checkLoss(&op, counts)))
        return signalPassFailure();
    pinCounts(program, counts);
  }
};
} // namespace
