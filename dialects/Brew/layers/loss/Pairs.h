//===- Pairs.h - Losses over pairs of elements ------------------*- C++ -*-===//
//
// Shared by the losses that compare two blobs element by element.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Emits an error unless both blobs have the same number of items, as in
/// Caffe's LossLayer, and items of the same size. `property` names these
/// numbers in the error.
mlir::LogicalResult checkPair(mlir::Operation *op, mlir::Value x, mlir::Value t,
                              const char *property);

/// Reshapes `value` to the shape of `like`, in row-major order.
mlir::Value reshapeLike(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value value, mlir::Value like);

/// Builds the sum of `term` over the elements of the inputs, which have one
/// shape.
mlir::Value buildSumOver(
    mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inputs,
    mlir::RankedTensorType type,
    llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)> term);

/// Builds a gradient: `term` of the inputs' elements and of scalars, for each
/// element.
mlir::Value buildPairGradient(
    mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inputs,
    mlir::ValueRange scalars,
    llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange,
                                   mlir::ValueRange)>
        term);

/// Builds -x.
mlir::Value buildNegated(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// Masks padding items (see ItemCounts.h), so that they contribute 0: sets
/// padding items of operand i to fills[i]. Rescales the loss, a sum divided by
/// the number of items.
mlir::LogicalResult maskPaddingPairs(mlir::Operation *op, ItemCounts &counts,
                                     llvm::ArrayRef<double> fills);

} // namespace brew::dialects
