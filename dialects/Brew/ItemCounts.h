//===- ItemCounts.h - Blobs whose number of items the data decide ----*- C++ -*-===//
//
// How many items a Filter lets through is known at run time only. Its tops have
// the shape of the most there can be, and an i32 scalar, the *count*, says how
// many of the leading items are there. Such a blob is *counted*. The remaining
// items, the *rest*, repeat the last one that counts (zeros if there is none),
// so that layers that work item by item compute them like the others, without
// infinities or wrong labels of their own making; nobody sees the results.
// Layers that combine items read the rest masked. So the gradients of the rest
// are zero behind the first layer that combines items, and nothing that sums
// over items in the backward pass needs to know the count.
//
// A count of rank r > 0 counts along dimension r; the r dimensions before it,
// and those of the count itself, have extent 1 (DetectionOutput).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include <optional>

namespace brew::dialects {

class ScalarBuilder;

/// The counts of a program's blobs, while brew-track-item-counts goes through it.
class ItemCounts {
public:
  /// The count of `blob`; null if all its items are always there.
  mlir::Value of(mlir::Value blob) const { return counts.lookup(blob); }
  /// Makes `blob` counted.
  void set(mlir::Value blob, mlir::Value count) { counts[blob] = count; }

  /// The count of what `selector` chooses: `count`, or that of an earlier layer
  /// with the same selector.
  mlir::Value countForSelector(mlir::Value selector, mlir::Value count);

  /// The count that all of a layer's `bottoms` (without: all its bottoms) have
  /// along dimension 0; null if none is counted. Bottoms are floating-point
  /// operands that are no parameters. Reports bottoms that are counted
  /// otherwise, or some but not all.
  mlir::FailureOr<mlir::Value>
  commonCount(mlir::Operation *layer,
         std::optional<mlir::ValueRange> bottoms = std::nullopt) const;

  /// A layer that works item by item: its tops are counted as its `bottoms`
  /// (without: all its bottoms) are. Reports an attribute `axis` that means the
  /// items' dimension.
  mlir::LogicalResult
  propagate(mlir::Operation *layer,
       std::optional<mlir::ValueRange> bottoms = std::nullopt);
  /// Likewise for an elementwise layer with broadcast operands.
  mlir::LogicalResult propagateElementwise(ScalarBodyInterface layer);

  /// Lets the operand's owner read `fill` in place of the rest.
  void maskPadding(mlir::OpOperand &bottom, mlir::Value count, double fill = 0);
  /// Multiplies result 0, a mean over all items, so that it becomes the mean of
  /// those that count (0 if there is none). The product takes over the top's
  /// name and loss weight.
  void rescaleMean(mlir::Operation *layer, mlir::Value count);

  /// Reports a counted `bottom` of a layer that needs all its items.
  mlir::LogicalResult requireAllItems(mlir::Operation *layer,
                                   mlir::Value bottom) const;
  /// Reports a `bottom` of which a layer reads the extents, from dimension
  /// `first` on, if one of those is only known at run time.
  mlir::LogicalResult requireStaticExtents(mlir::Operation *layer, mlir::Value bottom,
                                     int64_t first) const;
  /// Reports that a layer does not accept `bottom`, which is counted.
  mlir::LogicalResult reject(mlir::Operation *layer, mlir::Value bottom,
                             const llvm::Twine &why) const;

private:
  llvm::DenseMap<mlir::Value, mlir::Value> counts, bySelector;
};

/// Whether item number `item` is one of the first `count`, in a nest's body.
mlir::Value isValidItem(ScalarBuilder &s, mlir::Value item, mlir::Value count);

/// The label that losses ignore and that no data have, in place of the rest's.
constexpr int64_t kPaddingLabel = -(int64_t(1) << 31);

} // namespace brew::dialects

#include "dialects/Brew/ItemCountInterface.h.inc"
