//===- WinogradScratch.h - Memory that vendor calls need beside buffers -*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include <cstdint>

namespace brew::compiler {

/// Bytes of scratch that the calls of a program, or of all programs, which take
/// turns in one slab, need on a CPU as far as the compiler can tell: what
/// Winograd's algorithms need, where the runtime will take them, with any
/// number of threads up to that of the machine the module is for. What the
/// library needs elsewhere is known only where it is loaded.
int64_t winogradScratchBytes(dialects::plan::ProgramOp program);
int64_t winogradScratchBytes(mlir::ModuleOp plan);

} // namespace brew::compiler
