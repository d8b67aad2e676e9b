//===- SubviewType.h - Types of subviews of tensors -------------*- C++ -*-===//
//
// A subview is part of a joined or cut tensor, and lies where the whole does.
// Its type's encoding says so: `{strides = array<i64: ...>}`, the whole's
// strides. Kernels in the plan dialect have arguments of such types too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace brew::dialects {

/// The strides that the type of a subview gives, or null for any other type.
inline mlir::DenseI64ArrayAttr subviewStrides(mlir::RankedTensorType type) {
  auto subview =
      llvm::dyn_cast_or_null<mlir::DictionaryAttr>(type.getEncoding());
  return subview ? subview.getAs<mlir::DenseI64ArrayAttr>("strides") : nullptr;
}

/// Whether the type is one of a subview.
inline bool isSubview(mlir::RankedTensorType type) {
  return subviewStrides(type) != nullptr;
}

} // namespace brew::dialects
