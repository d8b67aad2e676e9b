//===- Axes.h - Axis settings of layers -------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::dialects {

/// Returns `axis`, counted from the end if negative, as a dimension of a bottom
/// of `rank` dimensions. Emits an error that names the setting if `axis` is out
/// of range.
inline mlir::FailureOr<int64_t>
canonicalAxis(mlir::Operation *layer, int64_t axis, int64_t rank,
              llvm::StringRef setting = "axis") {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  return layerError(layer) << setting << " " << axis
                           << " is outside the bottom's " << rank
                           << " dimensions";
}

/// Returns a shape as "(2, 3, 4)", for messages.
inline std::string dimsText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + ")";
}

} // namespace brew::dialects
