//===- Span.h - Address range of a buffer -----------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::compiler {

/// Returns the number of elements from the first to the last address of a
/// buffer; larger than its element count if it is a subview.
inline int64_t spanOf(mlir::RankedTensorType type) {
  int64_t last = 0;
  for (auto [dim, stride] :
       llvm::zip(type.getShape(), dialects::memoryStrides(type)))
    last += (dim - 1) * stride;
  return last + 1;
}

} // namespace brew::compiler
