//===- FuseProducer.h - A nest that computes what it would read -*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {

/// Inlines the nest that makes `value`, its only result, into `reader`, which
/// does the work of both layers if the value exists nowhere else. Returns the
/// nest that is there now: `reader` where that cannot be. The maker stays.
mlir::linalg::GenericOp fuseProducer(mlir::RewriterBase &rewriter,
                                     mlir::linalg::GenericOp reader,
                                     mlir::Value value,
                                     bool isFullyFused = false);

/// The nest that reads each tensor once and computes each value once.
mlir::linalg::GenericOp mergeDuplicateInputs(mlir::RewriterBase &rewriter,
                                          mlir::linalg::GenericOp nest);

/// Erases the nests of a block that nothing reads any more, and what they would
/// have written to.
void eraseDeadNests(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace brew::passes
