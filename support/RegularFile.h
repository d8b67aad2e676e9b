//===- RegularFile.h - Files that must not be pipes -------------*- C++ -*-===//
#pragma once

#include <string>

namespace brew {

/// Throws Error (1) if `path` names a pipe, a socket or a device: opening or
/// reading it may never end. Accepts regular files, folders, missing files, and
/// what the program was started with, such as /dev/stdin and /dev/fd/3.
void refuseSpecialFile(const std::string &path);

} // namespace brew
