//===- StreamingCopy.h - Copies past the caches -----------------*- C++ -*-===//
#pragma once

#include <cstddef>

namespace brew::runtime {

/// Copies `size` bytes, like memcpy. From kStreamingBytes on, stores without
/// reading the lines of `target` into the caches, which saves a third of the
/// memory traffic; the next reader gets the bytes from memory.
void streamingCopy(std::byte *target, const std::byte *source,
                   std::size_t size);

/// More bytes than a core's own caches keep until a step reads them.
inline constexpr std::size_t kStreamingBytes = std::size_t(8) << 20;

} // namespace brew::runtime
