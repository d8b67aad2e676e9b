//===- ParameterOffsets.h - Parameter offsets in arenas ---------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::passes {

/// Attribute of a `brew.param` that is persistent state: programs keep it from
/// run to run, and it is initially zero. After brew-plan-memory has erased
/// the parameters, it is an attribute of the module: a dictionary of all
/// persistent state by name, with type and offset in the parameter arena.
inline constexpr llvm::StringLiteral kPersistentAttr = "brew.persistent";

/// Offsets of parameters: one per parameter, valid in the arenas of parameters,
/// gradients and each slot of solver state. Depends only on the parameters'
/// types and order. Large parameters come first, so that no small gradient
/// between them is written early and values can span several gradients
/// (MemoryReuse.h).
struct ParameterOffsets {
  explicit ParameterOffsets(mlir::ModuleOp module);

  /// In bytes, by symbol.
  llvm::DenseMap<mlir::StringAttr, int64_t> bySymbol;
  /// Bytes of all parameters, including alignment.
  int64_t size = 0;
  /// Slots of solver state that programs write; 0 without a solver.
  int64_t slots = 0;
};

} // namespace brew::passes
