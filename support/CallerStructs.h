//===- CallerStructs.h - Versioned structures of the C APIs -----*- C++ -*-===//
//
// Structures that callers allocate begin with `size_t struct_size`, which the
// caller sets. New members can be appended: the structure of a program compiled
// with older headers is shorter, and the structure of a newer program longer.
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
template <typename Struct> std::size_t commonBytes(const Struct &given) {
  if (given.struct_size < sizeof given.struct_size)
    throw Error(ExitStatus::Usage, "the struct_size of a structure is not set");
  return std::min(given.struct_size, sizeof(Struct));
}

/// Returns a copy of the caller's structure, with zeros for members that it
/// does not have; only zeros for NULL.
template <typename Struct> Struct copyFromCaller(const Struct *given) {
  Struct result{};
  if (given)
    std::memcpy(&result, given, commonBytes(*given));
  result.struct_size = sizeof result;
  return result;
}

/// Sets the members that the caller's structure has. Throws Error (2) if `out`
/// is NULL.
template <typename Struct> void copyToCaller(Struct *out, const Struct &value) {
  if (!out)
    throw Error(ExitStatus::Usage, "there is no structure to fill in");
  const std::size_t size = out->struct_size;
  std::memcpy(out, &value, commonBytes(*out));
  out->struct_size = size;
}

} // namespace brew
