//===- SubKernelEmitter.h - The loops of a scheduled subKernel --------*- C++ -*-===//
#pragma once

#include "compiler/cpu/BodyEmitter.h"
#include "compiler/cpu/Schedule.h"

namespace brew::compiler::cpu {

/// Writes the loops that run units [begin, end) (index values) of the subKernel's
/// domain. `arguments` are the launch's buffers, one-dimensional.
void emitSubKernel(mlir::OpBuilder &b, mlir::Location loc, SubKernel &subKernel,
              const Schedule &schedule, mlir::ValueRange arguments,
              mlir::Value begin, mlir::Value end, ScratchBuffers &scratch);

} // namespace brew::compiler::cpu
