//===- KernelAnalysis.h - Accesses of the nests of a kernel -----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::dialects {

/// Returns, for each access of `nest` to `tensor`, the loop that indexes each
/// dimension, or -1 if the index is not a loop index. Accesses are operands and
/// extractions in the body. Empty if the nest does not read the tensor.
llvm::SmallVector<llvm::SmallVector<int64_t>>
accessLoops(mlir::linalg::GenericOp nest, mlir::Value tensor);

/// Returns the loops that index the dimensions of result `resultNumber` of
/// `nest`.
llvm::SmallVector<int64_t> resultLoops(mlir::linalg::GenericOp nest,
                                       unsigned resultNumber);

/// Returns whether each iteration of a reduction stores its own element of
/// result `resultNumber` instead of reducing into it (brew-fuse-reductions).
bool isStoredPerIteration(mlir::linalg::GenericOp nest, unsigned resultNumber);

/// Returns whether a launch may pass one buffer as both `input` and `output`:
/// no element of the input is read after the same element of the output is
/// written.
bool mayShareBuffer(KernelOp kernel, unsigned input, unsigned output);

/// Returns the number of scalar operations of a nest: in its body, times the
/// number of iterations.
int64_t countScalarOperations(mlir::linalg::GenericOp nest);

} // namespace brew::dialects
