//===- InvalidUtf8.h - Bytes that are not UTF-8 -----------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace brew {

/// Where the first byte stands that begins no character of UTF-8.
std::optional<std::size_t> findInvalidUtf8(std::string_view text);

} // namespace brew
