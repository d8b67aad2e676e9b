//===- Epilogue.h - Bias, sum and ReLU after a product ----------*- C++ -*-===//
//
// Convolutions and inner products add a bias for each output, may add a blob
// and apply a ReLU, and reduce the gradient with respect to the bias in the
// same way.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

#include <optional>

namespace brew::dialects {

/// Builds relu(sum + bias + residual) with negative slope `relu`. `bias` has
/// one element per index of dimension `output`, `residual` the result's shape;
/// both may be null. Returns `sum` itself if there is no bias, residual or
/// ReLU.
mlir::Value buildEpilogue(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value sum, mlir::Value bias, int64_t output,
                          std::optional<llvm::APFloat> relu,
                          mlir::RankedTensorType type,
                          mlir::Value residual = {});

/// Builds the gradient with respect to the bias: `dy` summed over all
/// dimensions but `output`.
mlir::Value buildBiasGradient(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Value dy, int64_t output,
                              mlir::RankedTensorType type);

} // namespace brew::dialects
