//===- FuseKernels.h - One kernel that does what two did ------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {

/// Makes one kernel of two of a block, before the builder's insertion point,
/// and erases them: with the nests of `first` where they are, and those of
/// `second`, which may read what `first` yields, where `place` puts them. What
/// `first` stores stays a result of the kernel, so that it has a place in
/// memory. All that the two read stands before that point, and all that reads
/// them behind it.
dialects::KernelOp
fuseKernels(mlir::OpBuilder &b, dialects::KernelOp first,
            dialects::KernelOp second,
            llvm::function_ref<dialects::NestGrid(dialects::NestGrid)> place);

/// The nests of each part of a kernel.
llvm::SmallVector<llvm::SmallVector<mlir::linalg::GenericOp>>
partsOf(dialects::KernelOp kernel);

/// Whether all that a kernel does has been done before.
bool isRematerialized(dialects::KernelOp kernel);

} // namespace brew::passes
