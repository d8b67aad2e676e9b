//===- SavedCount.h - Counts read from snapshots ----------------*- C++ -*-===//
#pragma once

#include "support/Error.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace brew::reinforcement {

/// Checks and converts a count from a snapshot. Throws Error (1) unless it is
/// an integer from 0 to `maximum`.
inline std::int64_t savedCount(double value,
                               std::int64_t maximum = std::int64_t(1) << 53) {
  if (!(value >= 0 && value <= static_cast<double>(maximum)) ||
      value != std::floor(value))
    throw badInput("the learner's numbers in the snapshot are damaged: one of "
                   "them is " +
                   std::to_string(value) +
                   " instead of a whole number from 0 to " +
                   std::to_string(maximum));
  return static_cast<std::int64_t>(value);
}

} // namespace brew::reinforcement
