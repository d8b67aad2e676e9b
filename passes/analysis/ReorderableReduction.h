//===- ReorderableReduction.h - Reorderable sums ----------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Returns whether every result of a nest is a sum that starts at zero and may
/// be reordered (reassoc). Tensors stored along the way (isStoredPerIteration)
/// are ignored.
bool hasReorderableReductions(mlir::linalg::GenericOp nest);

} // namespace brew::passes
