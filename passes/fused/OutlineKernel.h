//===- OutlineKernel.h - Groups of nests as a kernel ------------*- C++ -*-===//
#pragma once

#include "passes/fused/KernelGroups.h"

#include <string>

namespace brew::passes {

/// Outlines groups, each as one part, into one kernel behind `position`, where
/// the last of them ends. The nests are gone then.
dialects::KernelOp outlineKernel(llvm::ArrayRef<const NestGroup *> parts,
                                 mlir::Operation *position);

/// `text` as a kernel may be called in C: with `_` for what is no letter and no
/// digit.
std::string kernelName(std::string text);

} // namespace brew::passes
