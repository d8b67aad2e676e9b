//===- KernelGroups.h - Loop nests that can share a kernel ------*- C++ -*-===//
#pragma once

#include "dialects/Brew/KernelAnalysis.h"

#include "llvm/ADT/SetVector.h"

#include <vector>

namespace brew::passes {

/// Nests that will be one part of one kernel.
struct NestGroup {
  llvm::SmallVector<mlir::linalg::GenericOp> nests;
  int64_t grid = 0; ///< leading loops they share

  bool contains(mlir::Operation *op) const {
    return llvm::any_of(nests, [&](mlir::linalg::GenericOp nest) {
      return nest.getOperation() == op;
    });
  }
};

/// Groups the nests of a program greedily, in its order; groups are in the
/// order in which they end. The nests' loops are in the memory order of their
/// results. On a GPU a block of threads is the most that works on a grid point.
std::vector<NestGroup> groupNests(dialects::ProgramOp program);

/// Inputs of `nest` and what its body extracts from, in order.
llvm::SmallSetVector<mlir::Value, 4>
tensorsReadBy(mlir::linalg::GenericOp nest);

/// Whether every access of the group is the identity over all loops: then its
/// iterations are one long loop. A group of one nest `allowGathers`: read elements
/// at places that it computes, too.
bool isFlat(const NestGroup &group, bool allowGathers);

} // namespace brew::passes
