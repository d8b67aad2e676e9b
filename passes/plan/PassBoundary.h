//===- PassBoundary.h - Start of the backward pass --------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Block.h"

namespace brew::passes {

/// Returns whether a step computes only gradients. A kernel that also computes
/// values of the forward pass belongs to the forward pass.
bool isBackwardStep(mlir::Operation *step);

/// Returns the first operation of the backward pass; all steps of the forward
/// pass precede it. If the caller writes output gradients, the backward pass
/// begins with the first brew.output_gradient; otherwise with the first step
/// after the last step of the forward pass. Returns null if the program has no
/// backward pass.
mlir::Operation *findBackwardPass(mlir::Block &program);

} // namespace brew::passes
