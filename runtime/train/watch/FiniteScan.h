//===- FiniteScan.h - Where memory holds NaN or Inf -------------*- C++ -*-===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/executor/Executor.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace brew::runtime {

/// An element that is no number.
struct NonFinite {
  std::int64_t position; ///< row-major in the buffer's dimensions
  double value;          ///< NaN or an infinity
};

/// Whether all of a buffer's elements are finite; integers are. Elements that
/// lie without gaps are read at the memory's speed, by all threads.
bool allFinite(const plan::Buffer &buffer, const std::byte *bytes,
               const Threads &threads);

/// The first element in row-major order that is not finite.
std::optional<NonFinite> firstNonFinite(const plan::Buffer &buffer,
                                        const std::byte *bytes);

} // namespace brew::runtime
