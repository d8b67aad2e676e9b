//===- KernelGroups.h - Grouping of loop nests ------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/KernelAnalysis.h"

#include "llvm/ADT/SetVector.h"

#include <vector>

namespace brew::passes {

/// Maximal numbers of nests of a kernel, and of operations in the bodies of
/// several nests. The time and memory to compile a kernel grow faster than
/// these numbers.
constexpr size_t kMaxNests = 128;
constexpr size_t kMaxOperations = 2048;

/// Nests that become one sub-kernel.
struct NestGroup {
  llvm::SmallVector<mlir::linalg::GenericOp> nests;
  int64_t grid = 0;      ///< number of leading loops that the nests share
  size_t operations = 0; ///< in the bodies of the nests

  bool contains(mlir::Operation *op) const {
    return llvm::any_of(nests, [&](mlir::linalg::GenericOp nest) {
      return nest.getOperation() == op;
    });
  }
};

/// Groups the nests of a program greedily, in program order. Returns the groups
/// in the order of their last nests. Expects the loops of nests in the memory
/// order of their results. On a GPU at most one block of threads works on a
/// grid point.
std::vector<NestGroup> groupNests(dialects::ProgramOp program);

/// Returns the inputs of `nest` and the tensors that its body extracts from, in
/// order.
llvm::SmallSetVector<mlir::Value, 4>
tensorsReadBy(mlir::linalg::GenericOp nest);

/// Returns whether the group's iterations form one flat loop: every access is a
/// permutation of all loops. With `allowGathers`, a group of a single nest may
/// also gather elements at computed positions.
bool isFlat(const NestGroup &group, bool allowGathers);

} // namespace brew::passes
