//===- AccessBytes.h - Bytes by access width --------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace brew::compiler {

/// Bytes moved, keyed by the bytes that one thread moves per access.
using AccessBytes = std::map<unsigned, uint64_t>;

inline AccessBytes &operator+=(AccessBytes &sum, const AccessBytes &other) {
  for (auto [width, bytes] : other)
    sum[width] += bytes;
  return sum;
}

/// Accesses of a kernel to one of its arguments.
struct TensorAccess {
  std::string name; ///< as in the kernel's source
  unsigned argument = 0;
  bool writes = false;
  AccessBytes bytes;
};

} // namespace brew::compiler
