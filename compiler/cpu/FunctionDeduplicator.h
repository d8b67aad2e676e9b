//===- FunctionDeduplicator.h - Functions that do the same ------------*- C++ -*-===//
//
// Deep nets repeat their layers, so most kernels of a plan are copies of a few.
// LLVM, which takes most of a compilation's time, need see only these.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace brew::compiler::cpu {

/// Functions, of which those that differ in name and locations alone are one.
class FunctionDeduplicator {
public:
  /// The first function given that does what `function` does: itself if it is
  /// new. It must stay as it is.
  mlir::func::FuncOp canonical(mlir::func::FuncOp function);

private:
  std::map<size_t, llvm::SmallVector<mlir::func::FuncOp, 1>> known; ///< by hash
};

} // namespace brew::compiler::cpu
