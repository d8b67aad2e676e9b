//===- Span.h - How far a buffer's strides reach ----------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::compiler {

/// Elements from the first to the last that a buffer of that type addresses:
/// more than it has if it is a subview of another.
inline int64_t spanOf(mlir::RankedTensorType type) {
  int64_t last = 0;
  for (auto [dim, stride] :
       llvm::zip(type.getShape(), dialects::memoryStrides(type)))
    last += (dim - 1) * stride;
  return last + 1;
}

} // namespace brew::compiler
