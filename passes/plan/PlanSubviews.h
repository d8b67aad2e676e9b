//===- PlanSubviews.h - Subviews of plan buffers ----------------*- C++ -*-===//
//
// Concatenated and sliced tensors are subviews of a base buffer. The attribute
// `brew.base` of a plan.buffer contains the name of the base and its offset in
// bytes. Subviews have the strides of the base, so that each one is a box of
// elements of the base.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace brew::passes {

inline constexpr llvm::StringLiteral kBaseAttr = "brew.base";

/// Returns the size in bytes of the range from the start of a memref through
/// the last element that it addresses; -1 if it has no strides.
int64_t extentOf(mlir::MemRefType type);

/// Returns the name of the base of a subview, or the buffer's own name.
llvm::StringRef baseNameOf(dialects::plan::BufferOp buffer);

/// Returns the number of elements that two buffers of the same base have in
/// common; nullopt if they cannot be compared.
std::optional<int64_t> commonElements(dialects::plan::BufferOp x,
                                      dialects::plan::BufferOp y);

/// The rows of a subview: equally many bytes at the same position of each row
/// of its base. Subviews of one base and pitch overlap only if their positions
/// do.
struct Rows {
  llvm::StringRef baseName;
  int64_t base;   ///< offset of the base in the arena, in bytes
  int64_t pitch;  ///< distance of the rows in bytes
  int64_t column; ///< position in each row in bytes
  int64_t size;   ///< bytes per row; at most pitch - column
};

/// Returns the rows of a subview; nullopt for other buffers, and for subviews
/// whose elements are not at the same position of several rows.
std::optional<Rows> rowsOf(dialects::plan::BufferOp buffer);

/// Returns whether two buffers may have a byte in common; false only if they
/// provably do not overlap.
bool overlap(dialects::plan::BufferOp x, dialects::plan::BufferOp y);

} // namespace brew::passes
