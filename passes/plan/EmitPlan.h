//===- EmitPlan.h - The steps of a planned program --------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"
#include "passes/plan/BufferAssignment.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace brew::passes {

/// Writes a program in the plan dialect at `b`, with outlined kernels before
/// it. `kernelNames` are the names that the module's symbols have; those of
/// kernels are added. Reports an operation that has no place in a plan.
mlir::FailureOr<dialects::plan::ProgramOp>
emitPlan(dialects::ProgramOp program, const BufferAssignment &roots,
         mlir::OpBuilder &b, llvm::StringMap<int> &kernelNames);

} // namespace brew::passes
