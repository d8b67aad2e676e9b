//===- Pairs.h - Losses over pairs of elements ------------------*- C++ -*-===//
//
// The pieces that losses which compare two blobs element by element share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Caffe's LossLayer: as many items on both sides; and as much in each. `what`
/// is said to have to be the same.
mlir::LogicalResult checkPair(mlir::Operation *op, mlir::Value x, mlir::Value t,
                              const char *what);

/// `value` under the shape of `like`, element by element in row-major order.
mlir::Value reshapeLike(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value value, mlir::Value like);

/// A sum over elements of all inputs, which have the first's shape.
mlir::Value
buildSumOver(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inputs,
             mlir::RankedTensorType type,
             llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)> term);

/// A gradient: `term` of the inputs' elements and of scalars, for each element.
mlir::Value
buildPairGradient(mlir::OpBuilder &b, mlir::Location loc,
                  mlir::ValueRange inputs, mlir::ValueRange scalars,
                  llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange,
                                                 mlir::ValueRange)>
                      term);

/// -x.
mlir::Value buildNegated(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// Items that are not there (see ItemCounts.h) are made to contribute nothing:
/// operand i reads fills[i] in their place. The loss is a sum over the number
/// of items.
mlir::LogicalResult maskPaddingPairs(mlir::Operation *op, ItemCounts &counts,
                               llvm::ArrayRef<double> fills);

} // namespace brew::dialects
