//===- SavedCount.h - Counts that come from snapshots -----------*- C++ -*-===//
#pragma once

#include "support/Error.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace brew::reinforcement {

/// A number of a snapshot that counts something: a file may hold anything.
/// Throws Error (1) unless it is whole and from 0 to `most`.
inline std::int64_t savedCount(double value, std::int64_t most = std::int64_t(1)
                                                                 << 53) {
  if (!(value >= 0 && value <= static_cast<double>(most)) ||
      value != std::floor(value))
    throw badInput("the learner's numbers in the snapshot are damaged: one of "
                   "them is " +
                   std::to_string(value) +
                   " instead of a whole number from 0 to " +
                   std::to_string(most));
  return static_cast<std::int64_t>(value);
}

} // namespace brew::reinforcement
