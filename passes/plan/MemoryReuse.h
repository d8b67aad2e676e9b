//===- MemoryReuse.h - Reuse of gradient memory -----------------*- C++ -*-===//
//
// Assigns values to memory that is first used after their lifetime, such as
// gradients that are written later, so that they take no space in the transient
// arena. Independent of MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/MemoryPlanner.h"

namespace brew::passes {

/// Bytes outside the transient arena that are unused before a step.
struct ReusableRange {
  int64_t offset = 0, size = 0;
  int64_t until = 0; ///< first step that uses them
};

/// Assigns values to ranges, which do not overlap, while these are unused; a
/// value may span adjacent ranges. Tries several greedy orders with best fit,
/// then varies the best one, to minimize the peak of the remaining values
/// together with `others`. Returns the offsets; -1 for values that did not fit.
std::vector<int64_t>
assignReusedOffsets(const std::vector<LiveValue> &values,
                    const std::vector<LiveValue> &others,
                    const std::vector<ReusableRange> &ranges);

} // namespace brew::passes
