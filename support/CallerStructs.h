//===- CallerStructs.h - Structures that callers of the C APIs own --------===//
//
// They begin with `size_t struct_size`, which the caller sets, so that they can
// grow: an older program's end earlier, a newer one's later.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace brew {

/// Bytes that the caller's structure and the library's have in common. Throws
/// Error (2) if the size was not set.
template <typename Struct> std::size_t commonBytes(const Struct &given) {
  if (given.struct_size < sizeof given.struct_size)
    throw Error(ExitStatus::Usage, "the struct_size of a structure is not set");
  return std::min(given.struct_size, sizeof(Struct));
}

/// What the caller's structure says, as far as it goes; zeros beyond, and all
/// zeros for NULL.
template <typename Struct> Struct copyFromCaller(const Struct *given) {
  Struct result{};
  if (given)
    std::memcpy(&result, given, commonBytes(*given));
  result.struct_size = sizeof result;
  return result;
}

/// Fills in the caller's structure, as far as it goes. Throws Error (2) if
/// there is none.
template <typename Struct> void copyToCaller(Struct *out, const Struct &value) {
  if (!out)
    throw Error(ExitStatus::Usage, "there is no structure to fill in");
  const std::size_t size = out->struct_size;
  std::memcpy(out, &value, commonBytes(*out));
  out->struct_size = size;
}

} // namespace brew
