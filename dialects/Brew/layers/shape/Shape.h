//===- Shape.h - Operations that join and divide tensors --------*- C++ -*-===//
//
// Passes know brew.concat_view and brew.subview, which share memory with what they join
// and cut.
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

/// Type of a subview, of shape `shape`, of a tensor of type `whole`: its
/// encoding is the whole's strides, `{strides = array<i64: ...>}`.
mlir::RankedTensorType subviewOf(mlir::RankedTensorType whole,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace brew::dialects
