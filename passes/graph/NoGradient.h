//===- NoGradient.h - Blocked gradients of exposed states -------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace brew::passes {

/// Attribute of a split between a recurrent layer and one of its exposed
/// states, which blocks the gradient. Its value describes the state: "bottom 3"
/// or "top 'h'".
inline constexpr llvm::StringLiteral kNoGradientAttr = "brew.no_gradient";

} // namespace brew::passes
