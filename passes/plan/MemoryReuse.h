//===- MemoryReuse.h - Reuse of gradient memory -----------------*- C++ -*-===//
//
// Assigns values to memory that is first used after their lifetime, such as
// gradients that are written later, so that they take no space in the transient
// arena. This file does not depend on MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/MemoryPlanner.h"

namespace brew::passes {

/// Bytes outside the transient arena that are unused before a step.
struct ReusableRange {
  int64_t offset = 0, size = 0;
  int64_t until = 0; ///< first step that uses the bytes
};

/// Assigns values to `ranges` while these are unused. The ranges must not
/// overlap; a value may span adjacent ranges. Tries several greedy orders with
/// best fit, then varies the best one, to minimize the peak of the remaining
/// values together with `others`. Returns the offset of each value; -1 if it
/// did not fit.
std::vector<int64_t>
assignReusedOffsets(const std::vector<LiveValue> &values,
                    const std::vector<LiveValue> &others,
                    const std::vector<ReusableRange> &ranges);

} // namespace brew::passes
