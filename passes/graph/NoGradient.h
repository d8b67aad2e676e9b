//===- NoGradient.h - The attribute brew.no_gradient ------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace brew::passes {

/// Marks a split op that blocks the gradient between a recurrent layer and a
/// hidden state that it exposes as a bottom or top (expose_hidden), as Caffe
/// does. The value names the blob in warnings: "bottom 3" or "top 'h'".
inline constexpr llvm::StringLiteral kNoGradientAttr = "brew.no_gradient";

} // namespace brew::passes
