//===- ParameterOffsets.h - Where parameters lie in their arenas -----------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew::passes {

/// On a `brew.param`: state that programs carry from one run to the next, zeros
/// at first. On the module, after the parameters have gone: a dictionary of all
/// such state, type and offset in the parameters' arena by name.
inline constexpr llvm::StringLiteral kPersistentAttr = "brew.persistent";

/// Where parameters, gradients and each slot of solver state lie: one offset
/// per parameter, used in all of these arenas. Depends on the parameters' types
/// and order alone. Large ones come first: between them nothing small is
/// written early, so that values lie over several gradients (MemoryReuse.h).
struct ParameterOffsets {
  explicit ParameterOffsets(mlir::ModuleOp module);

  /// In bytes, by symbol.
  llvm::DenseMap<mlir::StringAttr, int64_t> offsets;
  /// Bytes of all parameters with the gaps that align them.
  int64_t size = 0;
  /// Slots of solver state that programs write, 0 without a solver.
  int64_t slots = 0;
};

} // namespace brew::passes
