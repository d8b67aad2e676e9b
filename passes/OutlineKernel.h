//===- OutlineKernel.h - Groups of nests as a kernel ------------*- C++ -*-===//
#pragma once

#include "passes/KernelGroups.h"

namespace brew {

/// Outlines groups, each as one part, into one kernel behind `position`, where
/// the last of them ends. The nests are gone then.
ir::KernelOp outlineKernel(llvm::ArrayRef<const Group *> parts,
                           mlir::Operation *position);

} // namespace brew
