//===- Epilogue.h - What products do with their sums ------------*- C++ -*-===//
//
// Convolutions and inner products add a bias for each output, may apply a ReLU,
// and sum the gradient by the bias in the same way.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

#include <optional>

namespace brew::dialects {

/// `sum` plus `bias` (one element for each index of dimension `output`; null:
/// none) plus `residual` (of the result's shape; null: none), through a ReLU of
/// slope `relu` if there is one. `sum` itself where there is none of them.
mlir::Value buildEpilogue(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value sum, mlir::Value bias, int64_t output,
                          std::optional<llvm::APFloat> relu,
                          mlir::RankedTensorType type,
                          mlir::Value residual = {});

/// The gradient by the bias: `dy` summed over all dimensions but `output`.
mlir::Value buildBiasGradient(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Value dy, int64_t output,
                              mlir::RankedTensorType type);

} // namespace brew::dialects
