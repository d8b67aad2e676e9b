//===- ReductionFactors.h - Sums that differ in factors -----------------*- C++
//-*-===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {

/// Where results of `nest`, all of them free sums (ReorderableReduction.h), differ only in
/// factors that are the same in all terms of a sum, lets one of them be added
/// up and the others be products of it: the sum of gamma * dy is gamma times
/// the sum of dy. Returns the nest that is there now.
mlir::linalg::GenericOp shareReductions(mlir::RewriterBase &rewriter,
                                  mlir::linalg::GenericOp nest);

} // namespace brew::passes
