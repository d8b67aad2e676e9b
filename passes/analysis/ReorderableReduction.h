//===- ReorderableReduction.h - Reorderable sums ----------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Returns whether every result of a nest is a sum that starts at zero and may
/// be reordered (reassoc). Ignores results that every iteration stores
/// (isStoredPerIteration).
bool hasReorderableReductions(mlir::linalg::GenericOp nest);

} // namespace brew::passes
