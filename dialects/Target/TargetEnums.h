//===- TargetEnums.h - Precision and layout of activations ------*- C++ -*-===//
#pragma once

#include "mlir/IR/OpImplementation.h"

#include "dialects/Target/TargetEnums.h.inc"

namespace brew::dialects::target {

/// Returns whether activations are stored in 16 bits.
inline bool isNarrow(Precision precision) {
  return precision == Precision::BF16 || precision == Precision::F16;
}

} // namespace brew::dialects::target
