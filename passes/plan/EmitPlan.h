//===- EmitPlan.h - Lowering of a program to the plan dialect ---*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"
#include "passes/plan/BufferAssignment.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace brew::passes {

/// Lowers `program` to a program of the plan dialect, inserted at `b` after its
/// outlined kernels. `symbolUses` counts the uses of each symbol name of the
/// module; the kernels' names are added. Reports an error and fails if an
/// operation is not allowed in a plan.
mlir::FailureOr<dialects::plan::ProgramOp>
emitPlan(dialects::ProgramOp program, const BufferAssignment &assignment,
         mlir::OpBuilder &b, llvm::StringMap<int> &symbolUses);

} // namespace brew::passes
