//===- FuseProducer.h - Fusion of a producer into its reader ----*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {

/// Inlines the single-result nest that produces `value` into `reader`. With
/// `isFullyFused` the value exists nowhere else, and the result is marked with
/// the origin of both layers. Returns the new nest, or `reader` if fusion is
/// impossible. The producer stays.
mlir::linalg::GenericOp fuseProducer(mlir::RewriterBase &rewriter,
                                     mlir::linalg::GenericOp reader,
                                     mlir::Value value,
                                     bool isFullyFused = false);

/// Merges duplicate inputs of `nest` and eliminates common subexpressions.
/// Returns the new nest.
mlir::linalg::GenericOp mergeDuplicateInputs(mlir::RewriterBase &rewriter,
                                             mlir::linalg::GenericOp nest);

/// Erases nests of a block without users, with their initial values.
void eraseDeadNests(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace brew::passes
