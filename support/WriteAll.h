//===- WriteAll.h - All bytes to a descriptor -------------------*- C++ -*-===//
#pragma once

#include <string_view>

namespace brew {

/// Writes all of `bytes` to `fd`, however many calls it takes. Returns 0, or
/// the errno of the call that failed.
int writeAll(int fd, std::string_view bytes);

} // namespace brew
