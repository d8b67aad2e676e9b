//===- MemoryBindings.h - Buffers in the caller's memory --------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace brew::runtime {

/// The caller's memory by buffer; null: the executor's own memory.
using MemoryBindings = std::map<std::uint32_t, std::byte *>;

} // namespace brew::runtime
