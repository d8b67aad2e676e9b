//===- InnermostLoop.h - Innermost loop of a nest ---------------*- C++ -*-===//
#pragma once

#include "compiler/cpu/BodyEmitter.h"

namespace brew::compiler::cpu {

/// Emits innermost loops, divided where boundaries and guards of the body begin
/// and end to have an effect.
class InnermostLoop {
public:
  InnermostLoop(mlir::OpBuilder &builder, mlir::Location loc, BodyEmitter &body)
      : b(builder), loc(loc), body(body) {}

  /// Calls emitInside(from, to) for [zero, last). If there are boundary
  /// operations, calls it for the ranges before, in and after [begin, end).
  /// Inside [begin, end), no boundary operation has an effect.
  void
  emitRanges(mlir::Value zero, mlir::Value begin, mlir::Value end,
             mlir::Value last, llvm::ArrayRef<mlir::Operation *> boundaries,
             llvm::function_ref<void(mlir::Value, mlir::Value)> emitInside);
  /// Calls emitInside(from, to) for the ranges of loop `number` of `nest`. With
  /// `carriesValues`, the loop carries values and cannot be skipped.
  void emit(Nest &nest, unsigned number,
            llvm::SmallVectorImpl<mlir::Value> &indices,
            llvm::function_ref<void(mlir::Value, mlir::Value)> emitInside,
            bool carriesValues = false);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  BodyEmitter &body;
};

} // namespace brew::compiler::cpu
