//===- SubKernelEmitter.h - Emission of a scheduled sub-kernel --*- C++ -*-===//
#pragma once

#include "compiler/cpu/BodyEmitter.h"
#include "compiler/cpu/Schedule.h"

namespace brew::compiler::cpu {

/// Emits the loops that run units [begin, end) (index values) of the
/// sub-kernel's domain. `arguments` are the launch's buffers, one-dimensional.
void emitSubKernel(mlir::OpBuilder &b, mlir::Location loc, SubKernel &subKernel,
                   const Schedule &schedule, mlir::ValueRange arguments,
                   mlir::Value begin, mlir::Value end, ScratchBuffers &scratch);

} // namespace brew::compiler::cpu
