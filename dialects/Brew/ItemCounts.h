//===- ItemCounts.h - Blobs with a dynamic number of items ------*- C++ -*-===//
//
// The number of items that a Filter selects is known at run time only. Its tops
// have the shape of the maximal number of items, and an i32 scalar, the *item
// count*, is the number of leading items that are *valid*. The other items, the
// *padding*, repeat the last valid one (zeros if there is none), so that layers
// that work item by item compute them like the others without producing
// infinities or invalid labels; no caller sees the results. Layers that combine
// items mask the padding. Therefore the gradients of padding items are zero
// before the first layer that combines items, and sums over items in the
// backward pass do not need the count.
//
// A count of rank r > 0 counts along dimension r; the r dimensions before it,
// and the dimensions of the count itself, have extent 1 (DetectionOutput).
//
// A view of such a blob, as Flatten makes it, may divide its items into several
// items each, or move them to another dimension. Its count is a multiple of the
// original one, and its padding repeats all parts of the last original item.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include <optional>
#include <tuple>

namespace brew::dialects {

class ScalarBuilder;

/// The item counts of a program's blobs, which brew-track-item-counts
/// propagates.
class ItemCounts {
public:
  /// Returns the item count of `blob`, or null if all its items are valid.
  mlir::Value of(mlir::Value blob) const { return counts.lookup(blob); }
  /// Sets the item count of `blob`.
  void set(mlir::Value blob, mlir::Value count) { counts[blob] = count; }

  /// Returns the item count of blobs that `selector` filters: `count`, or the
  /// count of an earlier layer with the same selector.
  mlir::Value countForSelector(mlir::Value selector, mlir::Value count);

  /// Returns the item count along dimension 0 that `bottoms` have in common
  /// (default: all bottoms of the layer), or null if they have none. Bottoms
  /// are floating-point operands except parameters. Emits an error if only some
  /// bottoms have a count, or different ones.
  mlir::FailureOr<mlir::Value>
  commonCount(mlir::Operation *layer,
              std::optional<mlir::ValueRange> bottoms = std::nullopt) const;

  /// Sets the counts of the tops of a layer that works item by item to the
  /// common count of its `bottoms` (default: all bottoms). Emits an error if an
  /// attribute `axis` is the dimension of the items.
  mlir::LogicalResult
  propagate(mlir::Operation *layer,
            std::optional<mlir::ValueRange> bottoms = std::nullopt);
  /// Does the same for an elementwise layer with broadcast operands, for a
  /// count along any dimension.
  mlir::LogicalResult propagateElementwise(ScalarBodyInterface layer);

  /// Sets the count of the top of a layer that shows the elements of its only
  /// bottom in another shape. `shapeOf` returns the top's shape for a shape of
  /// the bottom, or failure if there is none. Emits an error if a dimension of
  /// the top is not known for every number of items.
  mlir::LogicalResult
  propagateView(mlir::Operation *layer,
                llvm::function_ref<mlir::FailureOr<llvm::SmallVector<int64_t>>(
                    llvm::ArrayRef<int64_t>)>
                    shapeOf);
  /// Moves the valid items of a concatenation along their own dimension to its
  /// start, and sets its count. The top's name moves to the result.
  mlir::LogicalResult packConcatenated(mlir::Operation *layer, int64_t axis);

  /// Replaces the operand by one whose padding items are `fill`.
  void maskPadding(mlir::OpOperand &bottom, mlir::Value count, double fill = 0);
  /// Rescales result 0, a mean over all items, to the mean over the valid ones
  /// (0 if there is none). The top's name and loss weight move to the product.
  void rescaleMean(mlir::Operation *layer, mlir::Value count);

  /// Emits an error if `bottom` has an item count.
  mlir::LogicalResult requireAllItems(mlir::Operation *layer,
                                      mlir::Value bottom) const;
  /// Emits an error if the extent of any dimension of `bottom` from `first` on
  /// is known only at run time. The layer reads these dimensions.
  mlir::LogicalResult requireStaticExtents(mlir::Operation *layer,
                                           mlir::Value bottom,
                                           int64_t first) const;
  /// Emits an error that the layer does not accept the item count of `bottom`,
  /// because of `why`, and returns failure.
  mlir::LogicalResult reject(mlir::Operation *layer, mlir::Value bottom,
                             const llvm::Twine &why) const;

private:
  /// Emits an error that two bottoms have different item counts.
  mlir::LogicalResult rejectDifferentCounts(mlir::Operation *layer,
                                            mlir::Value first,
                                            mlir::Value second) const;

  llvm::DenseMap<mlir::Value, mlir::Value> counts, bySelector;
  /// The products of a count with a number, along a dimension.
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, int64_t>, mlir::Value> scaled;
};

/// Builds, in a nest's body, whether `item` is one of the first `count` items.
mlir::Value isValidItem(ScalarBuilder &s, mlir::Value item, mlir::Value count);

/// The label of padding items: no data contain it, and losses ignore it.
constexpr int64_t kPaddingLabel = -(int64_t(1) << 31);

} // namespace brew::dialects

#include "dialects/Brew/ItemCountInterface.h.inc"
