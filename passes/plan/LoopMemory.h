//===- LoopMemory.h - Memory of the values of a loop ------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include <optional>

namespace brew::passes {

/// Memory of a value of a loop's body.
struct LoopMemory {
  /// The operand of the loop that it is part of, or the result.
  mlir::Value full;
  int64_t offset = 0; ///< of the first iteration's value in it, in bytes
  int64_t stride = 0; ///< from one iteration to the next, in bytes
};

/// Returns the memory of a value, or nullopt if a step computes it and does not
/// yield it.
std::optional<LoopMemory> findLoopMemory(dialects::LoopOp loop,
                                         mlir::Value value);

/// Returns, for every result of a kernel in a loop, the number of the input
/// whose bytes it overwrites, or -1. `memory` contains the memory of the
/// inputs, then of the results. Reports an error if the kernel reads these
/// bytes after it has overwritten them.
mlir::FailureOr<llvm::SmallVector<int64_t>>
findInPlace(dialects::KernelOp kernel, llvm::ArrayRef<LoopMemory> memory);

} // namespace brew::passes
