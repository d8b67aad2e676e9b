//===- ReorderableReduction.h - Sums whose order is free ---------------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Whether every result of a nest is a sum that begins with zero and may be
/// added up in any order, but for what it stores on the way.
bool hasReorderableReductions(mlir::linalg::GenericOp nest);

} // namespace brew::passes
