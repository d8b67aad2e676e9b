//===- Origin.h - Layer and position of an operation ------------*- C++ -*-===//
//
// Passes replace layers by nests, casts and copies. Discardable attributes of
// the replacements record the layer that they compute, for names, profiles and
// the order of steps. Only the functions of this file access the attributes. A
// pass that replaces an operation marks the replacements with its origin.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace brew::dialects {

/// The layer that an operation computes, and whether in the forward or the
/// backward pass.
struct Origin {
  mlir::StringAttr layer;  ///< its name, or null
  bool isBackward = false; ///< whether it computes gradients
  /// Whether it recomputes values of the forward pass for the backward pass.
  bool isRematerialized = false;

  /// Returns the origin of a layer or of a marked operation.
  static Origin of(mlir::Operation *op);
  /// Returns the origin of an operation that fuses an operation of this origin
  /// with one of `other`: both layers' names, "A+B", if both belong to the same
  /// pass of the net; otherwise `other`.
  Origin with(const Origin &other) const;
  /// Marks `op`. A layer keeps its own name.
  void mark(mlir::Operation *op) const;
  /// Removes the marks of `op`.
  static void clear(mlir::Operation *op);
};

/// The position of a nest in its kernel, as described for brew.kernel.
struct NestGrid {
  int64_t subKernel = 0; ///< index of its sub-kernel
  int64_t gridLoops = 0; ///< leading loops that form the grid
  /// Whether its sub-kernel reads results of earlier sub-kernels of its stage:
  /// on a GPU, the last block to finish runs it.
  bool inLastBlock = false;
  /// Number of grid-wide barriers before it: on a GPU, a stage starts when all
  /// blocks have finished the one before.
  int64_t stage = 0;

  /// Returns the position of a nest, or nullopt if it has no sub-kernel or no
  /// number of grid loops.
  static std::optional<NestGrid> of(mlir::Operation *nest);
  void mark(mlir::Operation *nest) const;
};

} // namespace brew::dialects
