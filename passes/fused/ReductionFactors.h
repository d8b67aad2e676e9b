//===- ReductionFactors.h - Sums that differ in factors ---------*- C++ -*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {

/// If results of `nest`, all of them reorderable reductions
/// (ReorderableReduction.h), differ only in factors that do not depend on the
/// reduction loops, computes one reduction and derives the others as products:
/// the sum of gamma * dy is gamma times the sum of dy. Returns the new nest.
mlir::linalg::GenericOp shareReductions(mlir::RewriterBase &rewriter,
                                        mlir::linalg::GenericOp nest);

} // namespace brew::passes
