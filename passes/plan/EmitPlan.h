//===- EmitPlan.h - Emission of a program as a plan -------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"
#include "passes/plan/BufferAssignment.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace brew::passes {

/// Emits a program of the plan dialect at `b`, with its outlined kernels before
/// it. `symbolUses` contains the module's symbol names; the names of kernels
/// are added. Fails with an error for an operation that is not allowed in a
/// plan.
mlir::FailureOr<dialects::plan::ProgramOp>
emitPlan(dialects::ProgramOp program, const BufferAssignment &assignment,
         mlir::OpBuilder &b, llvm::StringMap<int> &symbolUses);

} // namespace brew::passes
