//===- FreeSum.h - Sums whose order is free ---------------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew {

/// Whether every result of a nest is a sum that begins with zero and may be
/// added up in any order.
bool givesFreeSums(mlir::linalg::GenericOp nest);

} // namespace brew
