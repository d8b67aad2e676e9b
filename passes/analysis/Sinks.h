//===- Sinks.h - What a program's values end in -----------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Block.h"

namespace brew::passes {

/// Moves what stores, keeps, checks or gives out values to the end of a
/// program: it waits until everything is computed, so that no kernel has to
/// stand before it. Where the caller writes gradients (brew.output_gradient), those of the
/// forward pass go to its end, for the caller may look at their values there.
/// Nests of parameters alone that only they read (the counts of running
/// statistics) are moved to the end of their pass, where those of all layers
/// can become one kernel.
void moveSinksToEnd(mlir::Block &program);

} // namespace brew::passes
