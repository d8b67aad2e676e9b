//===- ParameterPlaces.h - Where parameters lie in their arenas --*- C++
//-*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

namespace brew {

/// Where parameters, gradients and each slot of solver state lie: one offset
/// per parameter, used in all of these arenas. Depends on the parameters' types
/// and order alone.
struct ParameterPlaces {
  explicit ParameterPlaces(mlir::ModuleOp module);

  /// In bytes, by symbol.
  llvm::DenseMap<mlir::StringAttr, int64_t> offsets;
  /// Bytes of all parameters with the gaps that align them.
  int64_t size = 0;
  /// Slots of solver state that programs write, 0 without a solver.
  int64_t slots = 0;
};

} // namespace brew
