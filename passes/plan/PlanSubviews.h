//===- PlanSubviews.h - Buffers that are subviews of others -----*- C++ -*-===//
//
// Joined and cut tensors share the bytes of a whole. A plan.buffer of such a
// value says which one with the attribute `brew.base`: the whole's name and
// its offset in bytes. Subviews of one whole have its strides, so that each is
// a box of the whole's elements.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace brew::passes {

inline constexpr llvm::StringLiteral kBaseAttr = "brew.base";

/// Bytes from the first to the last element a memref addresses.
int64_t extentOf(mlir::MemRefType type);

/// Name of the whole that a buffer is a subview of; its own if it is none.
llvm::StringRef baseNameOf(dialects::plan::BufferOp buffer);

/// Elements that two buffers of one whole have in common; none where their
/// places cannot be compared. At most the elements of `x`.
std::optional<int64_t> commonElements(dialects::plan::BufferOp x,
                                      dialects::plan::BufferOp y);

/// Whether two buffers have a byte in common, as far as can be proved.
bool overlap(dialects::plan::BufferOp x, dialects::plan::BufferOp y);

} // namespace brew::passes
