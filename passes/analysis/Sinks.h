//===- Sinks.h - Sinks of a program -----------------------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Block.h"

namespace brew::passes {

/// Moves sinks (operations that store, pin, check or output values) to the end
/// of a program, so that they do not separate kernels. If the caller writes
/// output gradients (brew.output_gradient), sinks of the forward pass move to
/// its end, because the caller may read their values there. Nests that depend
/// on parameters only and that only sinks read (the counts of running
/// statistics) move to the end of their pass, where the nests of all layers can
/// form one kernel.
void moveSinksToEnd(mlir::Block &program);

/// Returns whether `op` is an input or sink of a program, allowed in every
/// phase.
bool isInputOrSink(mlir::Operation *op);

} // namespace brew::passes
