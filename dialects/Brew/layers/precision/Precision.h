//===- Precision.h - 16-bit types and loss scaling --------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/precision/Precision.h.inc"

namespace brew::dialects {

/// Returns whether the type is a 16-bit float. Computations with such types are
/// in f32.
inline bool isNarrowFloat(mlir::Type type) {
  return type.isBF16() || type.isF16();
}

/// Returns the source of a value through all casts.
inline mlir::Value castSource(mlir::Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  return value;
}

} // namespace brew::dialects
