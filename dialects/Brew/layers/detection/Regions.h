//===- Regions.h - Regions of interest in nests -----------------*- C++ -*-===//
//
// Shared by the region poolings. The bounds of a cell depend on data, so nests
// iterate over all positions of the plane and test whether each is in the cell.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Emits an error if a bottom does not have the shape of features or of
/// regions.
mlir::LogicalResult checkRegions(mlir::Operation *layer, mlir::Value x,
                                 mlir::Value rois);

/// Propagates the item count of the regions to the top. Emits an error if the
/// features have an item count: regions refer to them by index.
mlir::LogicalResult propagateRegionCount(mlir::Operation *layer,
                                         ItemCounts &counts, mlir::Value x,
                                         mlir::Value rois);

/// Emits an error and fails if `isNeeded`: regions have no gradient.
mlir::LogicalResult rejectRegionGradient(mlir::Operation *layer, bool isNeeded);

/// Builds the index of the image of region `roi`, clamped to [0, images).
mlir::Value regionImage(NestBuilder::Body &body, mlir::Value rois,
                        mlir::Value roi, int64_t images);
/// Builds element `field` of region `roi`.
mlir::Value regionField(NestBuilder::Body &body, mlir::Value rois,
                        mlir::Value roi, int64_t field);

/// Converts an index (below 2^31) to the floating-point type `type`.
mlir::Value asNumber(ScalarBuilder &s, mlir::Value index, mlir::Type type);
mlir::Value floorOf(ScalarBuilder &s, mlir::Value x);
mlir::Value ceilOf(ScalarBuilder &s, mlir::Value x);
/// Rounds to the nearest integer, halves away from 0, like C's round.
mlir::Value rounded(ScalarBuilder &s, mlir::Value x);
/// Clamps x to [0, limit].
mlir::Value clampNumber(ScalarBuilder &s, mlir::Value x, double limit);

/// The bounds of a cell in one dimension: the integers in [first, last).
struct CellBounds {
  mlir::Value first, last;

  /// Builds whether the index `atNumber`, a floating-point number, is inside.
  mlir::Value contains(ScalarBuilder &s, mlir::Value atNumber) const;
  mlir::Value isEmpty(ScalarBuilder &s) const;
};

} // namespace brew::dialects
