//===- Sums.h - Sums of a nest's iterations ---------------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/KernelModel.h"

namespace brew::compiler::cpu {

/// Returns the product of all reduction extents.
int64_t reductionIterations(const Nest &nest);
/// Returns whether all reductions of a nest are sums, in any order.
bool sumsInAnyOrder(const Nest &nest);
/// Returns whether a nest computes sums, in any order, of so many terms that
/// added one after the other they would have large rounding errors.
bool hasLongSums(const Nest &nest);
/// Returns the maximum number of iterations of loop `loop` whose values are
/// added to one accumulator, in a nest that has long sums.
int64_t sumBlockLength(const Nest &nest, unsigned loop);

} // namespace brew::compiler::cpu
