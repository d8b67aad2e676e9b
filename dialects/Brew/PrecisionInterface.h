//===- PrecisionInterface.h - What may be rounded ---------------*- C++ -*-===//
//
// Declared by operations (PrecisionInterface.td), asked by the passes that put
// activations into 16 bits (passes/fused/PrecisionRules.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/OpDefinition.h"

#include "dialects/Brew/PrecisionInterface.h.inc"
