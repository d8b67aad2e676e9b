//===- RepeatableBackward.h - Repeatable backward passes --------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace brew::passes {

/// Attribute of a program whose blobs are all pinned. If the caller also writes
/// output gradients, the backward pass may run several times after one forward
/// pass: memory planning does not let it overwrite results of the forward pass.
inline constexpr llvm::StringLiteral kRepeatableBackwardAttr =
    "brew.repeatable_backward";

} // namespace brew::passes
