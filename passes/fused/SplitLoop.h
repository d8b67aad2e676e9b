//===- SplitLoop.h - Splitting of a reduction loop --------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Returns whether splitLoop() can split reduction loop `loop` of a nest.
bool canSplitLoop(mlir::linalg::GenericOp nest, unsigned loop, int64_t pieces);

/// Replaces `nest` by a nest that has two loops instead of `loop`: an outer one
/// of `pieces` iterations and an inner one that covers the rest. Results must
/// be sums (an arith.addf of the accumulator) or stored along the way. If
/// `pieces` does not divide the extent, the last iterations add zeros. Inputs
/// indexed by the loop are read by tensor.extract.
mlir::linalg::GenericOp splitLoop(mlir::linalg::GenericOp nest, unsigned loop,
                                  int64_t pieces);

} // namespace brew::passes
