//===- LossScale.h - Dynamic loss scaling -----------------------*- C++ -*-===//
//
// Dynamic loss scaling: without it, gradients in f16 underflow. Losses are
// multiplied by a power of two and the gradients of parameters divided by it
// before they are stored. If a gradient is not finite, the update is skipped
// and the scale halved; after a number of good updates the scale is doubled.
// All of this happens in programs, on the device. The state consists of three
// persistent scalars, initially zero.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {

/// Returns the current scale, initially `initial`.
mlir::Value buildLossScale(mlir::OpBuilder &b, mlir::Location loc,
                           double initial);
/// Returns the scaled gradient, of type `type`, of a loss with weight `weight`.
mlir::Value buildScaledLossGradient(mlir::OpBuilder &b, mlir::Location loc,
                                    mlir::Type type, mlir::Value scale,
                                    mlir::StringAttr layer, float weight);
/// Multiplies a gradient that the caller wrote by the scale.
mlir::Value buildScaledGradient(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value gradient, mlir::Value scale,
                                mlir::StringAttr layer);
/// Divides a gradient by the scale.
mlir::Value buildUnscaledGradient(mlir::OpBuilder &b, mlir::Location loc,
                                  mlir::Value gradient, mlir::Value scale,
                                  mlir::StringAttr layer);

/// Appends operations to `program` that count the non-finite gradients it
/// stores and add them to the persistent count. No-op if it stores no
/// gradients.
void countNonFiniteGradients(dialects::ProgramOp program);
/// Returns the persistent count of non-finite gradients.
mlir::Value buildNonFiniteCount(mlir::OpBuilder &b, mlir::Location loc);
/// Returns `updated` if `count` is zero, else `previous`.
mlir::Value buildSelectIfFinite(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value count, mlir::Value updated,
                                mlir::Value previous, mlir::StringAttr layer);
/// Stores the scale of the next iteration and resets the count.
void buildScaleUpdate(mlir::OpBuilder &b, mlir::Location loc, double initial,
                      int64_t window);

} // namespace brew::passes
