//===- EmitKernelsPart.h - The loops of a scheduled part ---------*- C++
//-*-===//
#pragma once

#include "compiler/cpu/EmitKernelsBody.h"
#include "compiler/cpu/EmitKernelsSchedule.h"

namespace brew::compiler {

/// Memory that a kernel needs while it runs: on the stack if small, else on
/// the heap, and once per call either way.
class Scratch {
public:
  explicit Scratch(mlir::Block &entry) : entry(entry) {}
  /// A one-dimensional buffer, aligned for any vector.
  mlir::Value allocate(mlir::Location loc, mlir::Type element, int64_t size);
  /// Frees what lies on the heap; called at the end of the function.
  void release(mlir::OpBuilder &b, mlir::Location loc);

private:
  mlir::Block &entry;
  llvm::SmallVector<mlir::Value> heap;
};

/// Writes the loops that run units [begin, end) (index values) of the part's
/// domain. `arguments` are the launch's buffers, one-dimensional.
void emitPart(mlir::OpBuilder &b, mlir::Location loc, Part &part,
              const Schedule &schedule, mlir::ValueRange arguments,
              mlir::Value begin, mlir::Value end, Scratch &scratch);

} // namespace brew::compiler
