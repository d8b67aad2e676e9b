//===- InvalidUtf8.h - Detection of invalid UTF-8 ---------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace brew {

/// Returns the position of the first byte that does not begin a valid UTF-8
/// character, or nullopt if `text` is valid.
std::optional<std::size_t> findInvalidUtf8(std::string_view text);

} // namespace brew
