//===- WriteAll.h - Complete writes to a file descriptor --------*- C++ -*-===//
#pragma once

#include <string_view>

namespace brew {

/// Writes all of `bytes` to `fd`, with as many calls as needed. Returns 0, or
/// the errno of the call that failed.
int writeAll(int fd, std::string_view bytes);

} // namespace brew
