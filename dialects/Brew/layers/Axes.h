//===- Axes.h - Axis settings of layers -------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::dialects {

/// `axis`, counted from the end if negative, as a dimension of a bottom of
/// `rank` dimensions; reports what does not fit, naming the setting.
inline mlir::FailureOr<int64_t>
canonicalAxis(mlir::Operation *layer, int64_t axis, int64_t rank,
              llvm::StringRef setting = "axis") {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  return layerError(layer) << setting << " " << axis
                           << " is outside the bottom's " << rank
                           << " dimensions";
}

/// (2, 3, 4), for messages.
inline std::string dimsText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + ")";
}

} // namespace brew::dialects
