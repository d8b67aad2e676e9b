//===- FunctionDeduplicator.h - Deduplication of equivalent functions -----===//
//
// Deep nets repeat their layers, so most kernels of a plan are copies of a few.
// Deduplication saves compile time in LLVM.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace brew::compiler::cpu {

/// Finds functions that differ only in name and locations.
class FunctionDeduplicator {
public:
  /// Returns the first equivalent function passed to a call, or `function`
  /// itself if there is none. The returned function must not change afterwards.
  mlir::func::FuncOp canonical(mlir::func::FuncOp function);

private:
  std::map<size_t, llvm::SmallVector<mlir::func::FuncOp, 1>> functionsByHash;
};

} // namespace brew::compiler::cpu
