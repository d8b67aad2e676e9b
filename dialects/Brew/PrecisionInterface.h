//===- PrecisionInterface.h - Rounding to 16 bits ---------------*- C++ -*-===//
//
// Operations declare the interface (PrecisionInterface.td). The passes that
// store activations in 16 bits query it (passes/fused/PrecisionRules.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/OpDefinition.h"

#include "dialects/Brew/PrecisionInterface.h.inc"
