//===- LossScale.h - Losses multiplied for narrow gradients -----*- C++ -*-===//
//
// Gradients in f16 would underflow. So losses are multiplied by a power of two,
// parameters' gradients are divided by it before they are stored, and the scale
// follows what f16 can hold: an update whose gradients are not finite is left
// out and halves it, many good ones double it. All of it happens in programs,
// on the device. Its state are three scalars that programs carry along like
// parameters; they are zeros in the beginning.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {

/// The present scale, at first `initial`.
mlir::Value buildLossScale(mlir::OpBuilder &b, mlir::Location loc,
                           double initial);
/// The gradient, of type `type`, of a loss with weight `weight`.
mlir::Value buildScaledLossGradient(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Type type, mlir::Value scale,
                            mlir::StringAttr layer, float weight);
/// A gradient from outside, multiplied by the scale.
mlir::Value buildScaledGradient(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value gradient, mlir::Value scale,
                        mlir::StringAttr layer);
/// A gradient without the scale.
mlir::Value buildUnscaledGradient(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value gradient, mlir::Value scale,
                          mlir::StringAttr layer);

/// Adds to the count that is kept how many gradients that `program` stores are
/// not finite; nothing where it stores none.
void countNonFiniteGradients(dialects::ProgramOp program);
/// That count.
mlir::Value buildNonFiniteCount(mlir::OpBuilder &b, mlir::Location loc);
/// `updated` if no gradient is counted, else `before`.
mlir::Value buildSelectIfFinite(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value count, mlir::Value updated,
                        mlir::Value before, mlir::StringAttr layer);
/// Stores the scale of the next iteration and begins a new count.
void buildScaleUpdate(mlir::OpBuilder &b, mlir::Location loc, double initial,
                      int64_t window);

} // namespace brew::passes
