//===- PrecisionRules.h - Rules for rounding to 16 bits ---------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace brew::passes {

/// Returns the values of a program that must not be rounded: labels, indices
/// and regions, traced back through data movement and elementwise operations,
/// and values that are stored to parameters, gradients and solver state.
llvm::DenseSet<mlir::Value> findExactValues(dialects::ProgramOp program);

/// Returns whether `op` only moves or reshapes elements of its operands.
bool movesElements(mlir::Operation *op);
/// Returns whether an operation that moves elements moves those of `operand`;
/// otherwise it reads only the operand's shape.
bool isMoved(mlir::OpOperand &operand);

/// Returns whether an f32 result is an activation, or the gradient of one, with
/// users other than sinks. Excludes scalars, counts and indices, probabilities,
/// statistics that a layer saves, data-layer tops, parameters and constants.
bool isNarrowResult(mlir::OpResult result);

} // namespace brew::passes
