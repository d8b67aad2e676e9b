//===- CommonNests.h - Loop nests that several operations build -----------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// The rows of a tensor along one axis, indexed by the other dimensions.
struct AxisRows {
  AxisRows(mlir::RankedTensorType tensor, int64_t axis);

  llvm::SmallVector<int64_t> others; ///< dimensions other than the axis
  llvm::SmallVector<bool> reduction; ///< true at the axis
  mlir::RankedTensorType type;       ///< row-major, one element per row
};

/// Builds the softmax of `x` along `axis`. Like Caffe, it subtracts the maximum
/// first.
mlir::Value buildSoftmax(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         int64_t axis, mlir::RankedTensorType type);

/// Builds the logarithm of the softmax of `x` along `axis`.
mlir::Value buildLogSoftmax(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x, int64_t axis,
                            mlir::RankedTensorType type);

/// Builds the elementwise sum of two tensors of one type.
mlir::Value buildSum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     mlir::Value y);

/// Builds the nest of an elementwise operation.
mlir::Value buildElementwise(mlir::OpBuilder &b, ScalarBodyInterface op);

} // namespace brew::dialects
