//===- LoopOrder.h - The order of a nest's loops ----------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {

/// Interchanges loops: parallel ones first, in the memory order of the first
/// result, then reductions in the order they are written. Returns the nest that
/// is there now.
mlir::linalg::GenericOp orderLoops(mlir::RewriterBase &rewriter,
                                   mlir::linalg::GenericOp nest);

} // namespace brew::passes
