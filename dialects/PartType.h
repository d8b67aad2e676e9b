//===- PartType.h - Types of parts of tensors -------------------*- C++ -*-===//
//
// A part of a joined or cut tensor lies where the whole does. Its type's
// encoding says so: `{strides = array<i64: ...>}`, the whole's strides. Kernels
// in the plan dialect have arguments of such types too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace brew::ir {

/// The strides that the type of a part gives, or null for any other type.
inline mlir::DenseI64ArrayAttr partStrides(mlir::RankedTensorType type) {
  auto part = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(type.getEncoding());
  return part ? part.getAs<mlir::DenseI64ArrayAttr>("strides") : nullptr;
}

/// Whether the type is one of a part.
inline bool isPart(mlir::RankedTensorType type) {
  return partStrides(type) != nullptr;
}

} // namespace brew::ir
