//===- Parallel.h - Work on all cores ---------------------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace brew::compiler {

/// Runs work(0), ..., work(count - 1) on this machine's cores, on fewer where
/// the system has no more threads to give. After a failure nothing more is
/// begun; rethrows the failure with the lowest index.
void runParallel(std::size_t count, llvm::function_ref<void(std::size_t)> work);

} // namespace brew::compiler
