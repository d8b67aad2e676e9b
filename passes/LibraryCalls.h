//===- LibraryCalls.h - Which operations become vendor calls ----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/convolution/Convolution.h"

#include <string>

namespace brew {

/// Replaces `op`, which gives a bias gradient, by one that does not; `sum` is
/// what takes its place.
ir::ConvolutionBackwardWeightsOp
splitBiasGradient(ir::ConvolutionBackwardWeightsOp op, mlir::Value sum);

/// Whether `op` is to be computed by the vendor library: it has such a call,
/// its element type and layouts are supported, and `disabled` (group names, or
/// "all") does not exclude it.
bool usesLibrary(mlir::Operation *op, llvm::ArrayRef<std::string> disabled);

/// Puts casts around a product of narrow operands that is no vendor call: its
/// generic form computes in f32.
void computeWide(mlir::Operation *op);

} // namespace brew
