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
  /// Returns the first equivalent function seen; `function` itself if it is
  /// new. That function must not change afterwards.
  mlir::func::FuncOp canonical(mlir::func::FuncOp function);

private:
  std::map<size_t, llvm::SmallVector<mlir::func::FuncOp, 1>> known; ///< by hash
};

} // namespace brew::compiler::cpu
