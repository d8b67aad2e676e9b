//===- MemoryPlanner.h - Offsets for values with lifetimes ------*- C++ -*-===//
//
// Offline allocation of an arena: every value has a size and the steps at which
// it is live; values live at a common step must not overlap. No MLIR here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/Contract.h"

#include <cstdint>
#include <vector>

namespace brew::passes {

/// A value to place. Live at steps first..last, both included.
struct LiveValue {
  int64_t size = 0; ///< bytes
  int64_t first = 0;
  int64_t last = 0;
  int64_t offset = 0; ///< bytes, set by allocateArena
};

/// Alignment of offsets, in bytes.
inline constexpr int64_t kBufferAlignment = plan::kAlignment;

/// Bytes up to where the next value may begin.
constexpr int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Sets every offset and returns the extent of the arena in bytes. Tries
/// several greedy orders (by size, by area, by lifetime, by start) with best
/// fit into the gaps, then changes the best of them, and keeps the smallest.
int64_t allocateArena(std::vector<LiveValue> &values);

/// Largest sum of sizes (rounded up to the alignment) live at one step: no
/// arena can be smaller.
int64_t arenaLowerBound(const std::vector<LiveValue> &values);

} // namespace brew::passes
