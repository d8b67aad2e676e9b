//===- PrecisionRules.h - What may be rounded to 16 bits --------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace brew::passes {

/// Values of a program that must keep all digits: labels, indices and regions,
/// as far back as they are only moved or computed element by element, and what
/// is stored to parameters, their gradients and solver state.
llvm::DenseSet<mlir::Value> findExactValues(dialects::ProgramOp program);

/// Whether `op` gives elements of its operands another place or shape and
/// computes nothing.
bool movesElements(mlir::Operation *op);
/// Whether the elements of that operand of such an operation are moved; else
/// only its shape counts.
bool isMoved(mlir::OpOperand &operand);

/// Whether an f32 result is an activation or the gradient of one, which users
/// other than the end of the program read. Scalars, tops that count or number
/// something, probabilities, and what a layer saves about its statistics are
/// not; neither are feeds, parameters and constants.
bool isNarrowResult(mlir::OpResult result);

} // namespace brew::passes
