//===- CallerStructs.h - Versioned structures of the C APIs -----*- C++ -*-===//
//
// Structures that callers allocate begin with `size_t struct_size`, which the
// caller sets. New members can be appended: the structure of a program compiled
// with older headers is shorter than the library's, and that of a program
// compiled with newer headers is longer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace brew {

/// Returns the number of bytes that the caller's structure and the library's
/// have in common. Throws Error (2) if the size is not set.
template <typename Struct> std::size_t commonBytes(const Struct &callerStruct) {
  if (callerStruct.struct_size < sizeof callerStruct.struct_size)
    throw Error(ExitStatus::Usage, "the struct_size of a structure is not set");
  return std::min(callerStruct.struct_size, sizeof(Struct));
}

/// Returns a copy of the caller's structure, with zeros for members that it
/// lacks. For NULL, all members are zero.
template <typename Struct> Struct copyFromCaller(const Struct *callerStruct) {
  Struct result{};
  if (callerStruct)
    std::memcpy(&result, callerStruct, commonBytes(*callerStruct));
  result.struct_size = sizeof result;
  return result;
}

/// Copies the members of `value` that the caller's structure has. Throws Error
/// (2) if `out` is NULL or its size is not set.
template <typename Struct> void copyToCaller(Struct *out, const Struct &value) {
  if (!out)
    throw Error(ExitStatus::Usage, "there is no structure to fill in");
  const std::size_t size = out->struct_size;
  std::memcpy(out, &value, commonBytes(*out));
  out->struct_size = size;
}

} // namespace brew
