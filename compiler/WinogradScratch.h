//===- WinogradScratch.h - Scratch memory of Winograd's algorithms --------===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include <cstdint>

namespace brew::compiler {

/// Returns the bytes of scratch memory that Winograd's algorithms need on a
/// CPU, for the calls that will use them and for any number of threads up to
/// the cores of the module's machine. All calls of all programs share one slab,
/// so the sizes are maxima. The size of the library's own scratch memory is
/// unknown until the library is loaded.
int64_t winogradScratchBytes(dialects::plan::ProgramOp program);
int64_t winogradScratchBytes(mlir::ModuleOp plan);

} // namespace brew::compiler
