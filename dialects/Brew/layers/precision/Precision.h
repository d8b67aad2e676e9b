//===- Precision.h - Narrow types and the scale of losses -------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/precision/Precision.h.inc"

namespace brew::dialects {

/// Whether elements of that type have 16 bits and are computed with in f32.
inline bool isNarrowFloat(mlir::Type type) {
  return type.isBF16() || type.isF16();
}

/// What a value is a cast of, through all casts.
inline mlir::Value castSource(mlir::Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  return value;
}

} // namespace brew::dialects
