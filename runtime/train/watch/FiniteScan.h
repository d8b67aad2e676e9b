//===- FiniteScan.h - Search for NaN and Inf in buffers ---------*- C++ -*-===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/executor/Executor.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace brew::runtime {

/// An element that is not finite.
struct NonFinite {
  std::int64_t position; ///< row-major in the buffer's dimensions
  double value;          ///< NaN or infinite
};

/// Returns whether all elements of a buffer are finite; integers always are.
/// All threads share the scan of a buffer without gaps.
bool allFinite(const plan::Buffer &buffer, const std::byte *bytes,
               const Threads &threads);

/// Finds the first element in row-major order that is not finite.
std::optional<NonFinite> firstNonFinite(const plan::Buffer &buffer,
                                        const std::byte *bytes);

} // namespace brew::runtime
