//===- SubviewType.h - Types of subviews of tensors -------------*- C++ -*-===//
//
// A subview is a slice of a tensor, in the memory of the full tensor. The
// encoding of its type contains the strides of the full tensor:
// `{strides = array<i64: ...>}`. Kernels in the plan dialect have arguments of
// such types too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace brew::dialects {

/// Returns the strides of a subview's type; null for any other type.
inline mlir::DenseI64ArrayAttr subviewStrides(mlir::RankedTensorType type) {
  auto subview =
      llvm::dyn_cast_or_null<mlir::DictionaryAttr>(type.getEncoding());
  return subview ? subview.getAs<mlir::DenseI64ArrayAttr>("strides") : nullptr;
}

/// Returns whether `type` is the type of a subview.
inline bool isSubview(mlir::RankedTensorType type) {
  return subviewStrides(type) != nullptr;
}

} // namespace brew::dialects
