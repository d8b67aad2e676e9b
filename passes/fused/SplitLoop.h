//===- SplitLoop.h - One loop of a sum as two -------------------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Whether splitLoop() can take reduction loop `loop` of a nest.
bool canSplitLoop(mlir::linalg::GenericOp nest, unsigned loop, int64_t pieces);

/// Puts a nest in place of `nest`, whose results are sums (yielded by an
/// arith.addf of the present value) or stored on the way, with two loops
/// instead of loop `loop`: `loop`, of `pieces` iterations, and behind it one of
/// as many as cover all. Where those are more than there were, the last ones
/// add zeros. What is read along the loop becomes a tensor.extract.
mlir::linalg::GenericOp splitLoop(mlir::linalg::GenericOp nest, unsigned loop,
                                  int64_t pieces);

} // namespace brew::passes
