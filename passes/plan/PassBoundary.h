//===- PassBoundary.h - Where a program's backward pass begins --*- C++ -*-===//
#pragma once

#include "mlir/IR/Block.h"

namespace brew::passes {

/// Whether a step computes nothing but gradients. A kernel that also computes
/// values of the forward pass belongs to the forward pass.
bool isBackwardStep(mlir::Operation *step);

/// The first operation of the backward pass: all steps of the forward pass
/// stand before it. Where the caller writes output gradients, that is the first
/// brew.output_gradient; elsewhere the first step after the last one of the forward pass.
/// Null if the program has no backward pass.
mlir::Operation *findBackwardPass(mlir::Block &program);

} // namespace brew::passes
