//===- UnrolledWindows.h - Gathers over windows without loops ---*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

#include <cstdint>

namespace brew {

/// Whether each element of the only result of `nest` is a sum over at most
/// `most` windows of what the body extracts: the gradient of a max pooling,
/// say. What it extracts is all that it reads.
bool gathersFromWindows(mlir::linalg::GenericOp nest, int64_t most);

/// Operations on what is extracted for one element of the result of such a
/// nest. Those on indices are the same for neighbours in memory, which a thread
/// takes together.
int64_t operationsPerElement(mlir::linalg::GenericOp nest);

/// Makes of such a nest one that adds up all windows in its body, in the same
/// order, and has no reduction loops: other nests can compute its result
/// themselves. Replaces `nest`.
mlir::linalg::GenericOp unrollWindows(mlir::RewriterBase &rewriter,
                                      mlir::linalg::GenericOp nest);

} // namespace brew
