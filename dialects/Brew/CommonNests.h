//===- CommonNests.h - LoopNests forms that several operations share ---------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// How a tensor divides along one axis: the other dimensions number its rows.
struct AxisRows {
  AxisRows(mlir::RankedTensorType tensor, int64_t axis);

  llvm::SmallVector<int64_t> others; ///< dimensions other than the axis
  llvm::SmallVector<bool> reduction; ///< true at the axis
  mlir::RankedTensorType type;       ///< one element per row, row-major
};

/// Softmax of `x` along `axis`, with Caffe's subtraction of the maximum.
mlir::Value buildSoftmax(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         int64_t axis, mlir::RankedTensorType type);

/// Elementwise sum of two tensors of one type.
mlir::Value buildSum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     mlir::Value y);

/// The nest of an operation with a scalar body.
mlir::Value buildElementwise(mlir::OpBuilder &b, ScalarBodyInterface op);

} // namespace brew::dialects
