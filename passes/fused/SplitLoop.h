//===- SplitLoop.h - Splitting of a reduction loop --------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Returns whether splitLoop() can split reduction loop `loop` of a nest.
bool canSplitLoop(mlir::linalg::GenericOp nest, unsigned loop, int64_t chunks);

/// Replaces `nest` by a nest that has two loops instead of `loop`: an outer one
/// of `chunks` iterations and an inner one over the elements of a chunk.
/// Results must be sums (an arith.addf of the accumulator) or tensors that
/// every iteration stores (isStoredPerIteration). If `chunks` does not divide
/// the extent, the last iterations add zeros, and inputs indexed by the loop
/// are read by tensor.extract.
mlir::linalg::GenericOp splitLoop(mlir::linalg::GenericOp nest, unsigned loop,
                                  int64_t chunks);

} // namespace brew::passes
