//===- KernelAnalysis.h - What nests of a kernel read and write -----------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::dialects {

/// Loop of `nest` that addresses each dimension of `operand`; -1 where the
/// address is no plain loop index. For a tensor the body extracts from, the
/// loops of the extraction (-1 where its index is no loop index). Nothing if
/// the nest does not read it.
llvm::SmallVector<llvm::SmallVector<int64_t>>
accessLoops(mlir::linalg::GenericOp nest, mlir::Value tensor);

/// Loops that address each dimension of result `number` of `nest`.
llvm::SmallVector<int64_t> resultLoops(mlir::linalg::GenericOp nest,
                                       unsigned number);

/// Whether result `number` of a reduction is no sum: each iteration stores an
/// element of its own (brew-fuse-reductions).
bool isStoredPerIteration(mlir::linalg::GenericOp nest, unsigned number);

/// Whether a launch may pass one buffer as input `input` and output `output`:
/// every element of the input is last read where that element of the output
/// is written.
bool mayShareBuffer(KernelOp kernel, unsigned input, unsigned output);

/// Scalar operations times iterations, a measure of a nest's work.
int64_t countScalarOperations(mlir::linalg::GenericOp nest);

} // namespace brew::dialects
