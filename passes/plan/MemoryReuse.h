//===- MemoryReuse.h - Places that are not needed yet -----------*- C++ -*-===//
//
// Values that fit where other memory is not needed until they have ended take
// nothing of the arena. No MLIR here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/MemoryPlanner.h"

namespace brew::passes {

/// Bytes elsewhere that nobody needs before a step.
struct ReusableRange {
  int64_t offset = 0, size = 0;
  int64_t until = 0; ///< the first step that needs them
};

/// Gives values places inside of ranges, which do not overlap, as long as those
/// are spare: in one, or in several that follow one another. Tries several
/// greedy orders with best fit and changes the best of them, so that the values
/// that are left, with `others`, need little at once. Returns the offsets, or
/// -1 for values without a place.
std::vector<int64_t> assignReusedOffsets(const std::vector<LiveValue> &values,
                                  const std::vector<LiveValue> &others,
                                  const std::vector<ReusableRange> &ranges);

} // namespace brew::passes
