//===- LoopOrder.h - Loop order of nests ------------------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {

/// Interchanges loops: parallel loops first, in the memory order of the first
/// result, then reductions in their original order. Returns the new nest, or
/// `nest` if its loops are in this order already.
mlir::linalg::GenericOp orderLoops(mlir::RewriterBase &rewriter,
                                   mlir::linalg::GenericOp nest);

} // namespace brew::passes
