//===- Regions.h - Regions of interest in nests -----------------*- C++ -*-===//
//
// The pieces that both region poolings share. A cell's bounds depend on data,
// so nests look at every place of the plane and ask whether it is in the cell.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Reports a bottom that is not features, or regions, of a region pooling.
mlir::LogicalResult checkRegions(mlir::Operation *layer, mlir::Value x,
                                 mlir::Value rois);

/// The regions may be counted items, and with them the top's; the features may
/// not, as regions say which of them they are of.
mlir::LogicalResult propagateRegionCount(mlir::Operation *layer, ItemCounts &counts,
                                 mlir::Value x, mlir::Value rois);

/// Fails, with an error at the layer, if the regions need a gradient: they have
/// none.
mlir::LogicalResult rejectRegionGradient(mlir::Operation *layer, bool needed);

/// Image of region `roi`, inside [0, images).
mlir::Value regionImage(NestBuilder::Body &body, mlir::Value rois,
                        mlir::Value roi, int64_t images);
/// Element `field` of region `roi`.
mlir::Value regionField(NestBuilder::Body &body, mlir::Value rois,
                        mlir::Value roi, int64_t field);

/// An index (below 2^31) as a number of type `type`.
mlir::Value asNumber(ScalarBuilder &s, mlir::Value index, mlir::Type type);
mlir::Value floorOf(ScalarBuilder &s, mlir::Value x);
mlir::Value ceilOf(ScalarBuilder &s, mlir::Value x);
/// The nearest integer, halves away from 0, as C's round.
mlir::Value rounded(ScalarBuilder &s, mlir::Value x);
/// x inside [0, limit].
mlir::Value clampNumber(ScalarBuilder &s, mlir::Value x, double limit);

/// A cell's bounds in one dimension: the integers in [first, last).
struct CellBounds {
  mlir::Value first, last;

  /// Whether index `at` is inside; `atNumber` is the same as a number.
  mlir::Value contains(ScalarBuilder &s, mlir::Value atNumber) const;
  mlir::Value isEmpty(ScalarBuilder &s) const;
};

} // namespace brew::dialects
