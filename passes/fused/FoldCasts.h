//===- FoldCasts.h - Folding of casts into nests ----------------*- C++ -*-===//
#pragma once

#include "mlir/IR/Block.h"

namespace brew::passes {

/// Folds the casts of a block into the nests that read or compute them. Lowers
/// the others to nests.
void foldCasts(mlir::Block &block);

} // namespace brew::passes
