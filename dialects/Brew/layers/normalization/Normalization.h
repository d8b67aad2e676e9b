//===- Normalization.h - Layers that normalise ------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/PrecisionInterface.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/normalization/Normalization.h.inc"

namespace brew::dialects {

/// Builds mean and 1 / sqrt(variance + eps) of each channel from the running
/// statistics of a BatchNorm layer. `factor` may be null.
llvm::SmallVector<mlir::Value>
buildGlobalStatistics(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mean,
                      mlir::Value variance, mlir::Value factor, double eps);

} // namespace brew::dialects
