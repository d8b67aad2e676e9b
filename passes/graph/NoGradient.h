//===- NoGradient.h - Where Caffe drops gradients ---------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace brew::passes {

/// On a split between a recurrent layer and one of its exposed states, which no
/// gradient passes: that state in words, "bottom 3" or "top 'h'".
inline constexpr llvm::StringLiteral kNoGradientAttr = "brew.no_gradient";

} // namespace brew::passes
