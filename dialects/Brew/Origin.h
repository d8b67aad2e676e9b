//===- Origin.h - What an operation was made for ----------------*- C++ -*-===//
//
// Passes replace layers by nests, casts and copies. These remember whose they
// are, for names, profiles and the order of passes: as discardable attributes,
// which only the functions here know. Whoever makes an operation for another
// one marks it with the other's origin.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace brew::dialects {

/// The layer that an operation computes, and in which of the passes of a net.
struct Origin {
  mlir::StringAttr layer;  ///< its name; null: of no layer
  bool isBackward = false; ///< whether it computes gradients
  /// Whether it computes again, for gradients, what the forward pass has.
  bool isRematerialized = false;

  /// That of a layer, or of what was marked.
  static Origin of(mlir::Operation *op);
  /// That of an operation which does what is of `other` too, if both are of the
  /// same pass of the net: of two layers' names, "A+B". Else `other`.
  Origin with(const Origin &other) const;
  /// Marks `op`; a layer's own name stays.
  void mark(mlir::Operation *op) const;
  /// Leaves `op` without a mark.
  static void clear(mlir::Operation *op);
};

/// Where a nest stands in its brew.kernel.
struct NestGrid {
  int64_t part = 0;  ///< number of its part
  int64_t depth = 0; ///< leading loops that are the part's grid
  /// Whether its part reads what the parts before it in its stage have
  /// computed: on a GPU, the block that ends last does it.
  bool isLast = false;
  /// Grid-wide barriers before it: on a GPU, all blocks have ended the stage
  /// before when one begins it.
  int64_t stage = 0;

  /// Nothing unless both numbers are there.
  static std::optional<NestGrid> of(mlir::Operation *nest);
  void mark(mlir::Operation *nest) const;
};

} // namespace brew::dialects
