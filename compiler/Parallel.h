//===- Parallel.h - Parallel loop over all cores ----------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace brew::compiler {

/// Runs work(0), ..., work(count - 1) on this machine's cores, or on fewer if
/// the system provides no more threads. Starts no more work after a failure.
/// Rethrows the failure with the lowest index.
void runParallel(std::size_t count, llvm::function_ref<void(std::size_t)> work);

} // namespace brew::compiler
