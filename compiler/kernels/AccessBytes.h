//===- AccessBytes.h - Bytes by the width of accesses -----------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace brew::compiler {

/// Bytes that are moved, by the bytes that one thread moves at once.
using AccessBytes = std::map<unsigned, uint64_t>;

inline AccessBytes &operator+=(AccessBytes &sum, const AccessBytes &other) {
  for (auto [width, bytes] : other)
    sum[width] += bytes;
  return sum;
}

/// How a kernel reads or writes one of its arguments.
struct TensorAccess {
  std::string name; ///< as the kernel's text has it
  unsigned argument = 0;
  bool writes = false;
  AccessBytes bytes;
};

} // namespace brew::compiler
