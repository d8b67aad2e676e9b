//===- RepeatableBackward.h - Backward passes that run again ----*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace brew::passes {

/// On a program all of whose blobs are kept. If the caller also writes its
/// output gradients, the backward pass may run several times after one forward
/// pass: memory planning lets it overwrite nothing that the forward pass made.
inline constexpr llvm::StringLiteral kRepeatableBackwardAttr =
    "brew.repeatable_backward";

} // namespace brew::passes
