//===- Shape.h - Layers that concatenate and slice --------------*- C++ -*-===//
//
// Passes refer to brew.concat_view and brew.subview by name: both share memory
// with the tensors that they concatenate and slice.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/PrecisionInterface.h"
#include "dialects/SubviewType.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/shape/Shape.h.inc"

namespace brew::dialects {

/// Returns the type of a subview of shape `shape` of a tensor of type `full`.
/// Its encoding contains the strides of `full`, `{strides = array<i64: ...>}`.
mlir::RankedTensorType subviewOf(mlir::RankedTensorType full,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace brew::dialects
