//===- FuseKernels.h - Fusion of two kernels --------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Fuses two kernels of a block into one at the builder's insertion point, and
/// erases them. The nests of `first` keep their grid. The nests of `second`,
/// which may read results of `first`, get the grid that `reschedule` returns.
/// Results of `first` stay results of the fused kernel, so that they have
/// memory. All inputs must be defined before the insertion point, and all users
/// must follow it.
dialects::KernelOp fuseKernels(
    mlir::OpBuilder &b, dialects::KernelOp first, dialects::KernelOp second,
    llvm::function_ref<dialects::NestGrid(dialects::NestGrid)> reschedule);

/// Returns the nests of each sub-kernel.
llvm::SmallVector<llvm::SmallVector<mlir::linalg::GenericOp>>
subKernelsOf(dialects::KernelOp kernel);

/// Returns whether all nests of a kernel recompute values of the forward pass.
bool isRematerialized(dialects::KernelOp kernel);

} // namespace brew::passes
