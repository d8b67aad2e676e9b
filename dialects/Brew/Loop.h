//===- Loop.h - Construction of loops ---------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/Builders.h"

namespace brew::dialects {

/// The operands of a loop, and the types of its results besides `initial`.
struct LoopOperands {
  llvm::SmallVector<mlir::Value> sequences, invariants, initial;
  llvm::SmallVector<mlir::Type> stacked, scratch;
};

/// Creates a loop over `iterations` time steps with an empty body.
LoopOp createLoop(mlir::OpBuilder &b, mlir::Location loc,
                  mlir::StringAttr layer, int64_t iterations, bool isReverse,
                  const LoopOperands &operands);

/// Returns the type of one item of a tensor [T, ...]: a subview [1, ...].
mlir::RankedTensorType itemTypeOf(mlir::Type sequence);

} // namespace brew::dialects
