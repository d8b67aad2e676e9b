//===- MemoryPlanner.h - Offline arena allocation ---------------*- C++ -*-===//
//
// Offline allocation of an arena: every value has a size and a lifetime in
// steps; values that are live at the same step must not overlap. Independent of
// MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/Contract.h"

#include <cstdint>
#include <vector>

namespace brew::passes {

/// A value to allocate, live at steps first..last, inclusive.
struct LiveValue {
  int64_t size = 0; ///< bytes
  int64_t first = 0;
  int64_t last = 0;
  int64_t offset = 0; ///< bytes, set by allocateArena
};

/// Alignment of offsets, in bytes.
inline constexpr int64_t kBufferAlignment = plan::kAlignment;

/// Rounds `bytes` up to the alignment.
constexpr int64_t alignUp(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Sets every offset and returns the size of the arena in bytes. Tries several
/// greedy orders (by size, area, lifetime, start) with best fit, then varies
/// the best one, and keeps the smallest result.
int64_t allocateArena(std::vector<LiveValue> &values);

/// Returns the maximum over all steps of the live bytes, rounded up to the
/// alignment: no arena can be smaller.
int64_t arenaLowerBound(const std::vector<LiveValue> &values);

} // namespace brew::passes
