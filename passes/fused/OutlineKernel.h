//===- OutlineKernel.h - Outlining of nest groups into kernels --*- C++ -*-===//
#pragma once

#include "passes/fused/KernelGroups.h"

#include <string>

namespace brew::passes {

/// Outlines groups, each as one sub-kernel, into one kernel after `position`,
/// the end of the last group. Erases the original nests.
dialects::KernelOp outlineKernel(llvm::ArrayRef<const NestGroup *> groups,
                                 mlir::Operation *position);

/// Returns `text` as a C identifier: other characters than letters and digits
/// become `_`.
std::string toIdentifier(std::string text);

} // namespace brew::passes
