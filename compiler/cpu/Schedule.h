//===- Schedule.h - How the loops of a subKernel run ------*- C++ -*-===//
//
// Three schedules. All enumerate some leading grid loops with the range that
// the runtime hands out, and leave contiguous inner loops to LLVM's vectoriser.
//
//   Flat   one loop over all elements; the range is its bounds.
//   Fused  the range enumerates rows; one inner loop over the last grid loop
//          runs all nests at each point, windows unrolled, values between nests
//          in registers.
//   Rows   the range enumerates rows or points; each nest runs its own loops,
//          values between nests lie in small buffers. Reductions are innermost
//          or accumulate rows (see RowAccumulation).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cpu {

/// How a reducing nest accumulates a row of values, one per iteration of its
/// innermost loop, in memory (or registers, if LLVM sees fit), outside which
/// its other reductions run. The innermost loop may be a reduction as well:
/// then the row holds partial sums, which are summed in the end.
struct RowAccumulation {
  unsigned innermost = 0;
  /// Reductions whose iterations are written out one by one, since the bounds
  /// of the innermost loop depend on them.
  llvm::SmallVector<unsigned> unrolled;
  llvm::SmallVector<unsigned> reductions; ///< the others
  /// A parallel loop of which `factor` iterations run jammedIndices, each with a
  /// row of its own, so that they share what they read.
  std::optional<unsigned> jammed;
  int64_t factor = 1;
};

struct Schedule {
  enum class Kind { Flat, Fused, Rows };
  Kind kind = Kind::Rows;
  unsigned outerLoops = 0; ///< grid loops that the range enumerates
  /// Rows: the innermost loop of each nest, if it has any inside `outer`.
  std::vector<std::optional<unsigned>> innermost;
  /// Rows: set for each nest that accumulates rows.
  std::vector<std::optional<RowAccumulation>> accumulations;
  double unitCost = 1; ///< estimate for one unit of the domain, in cycles
};

/// Chooses the cheapest schedule of `subKernel` (normalised) on `cpu` and prepares
/// the subKernel for it: may split grid loops, and places temporaries.
Schedule chooseSchedule(SubKernel &subKernel, dialects::target::CpuAttr cpu);

/// Units of the subKernel's domain under `schedule`.
int64_t domainOf(const SubKernel &subKernel, const Schedule &schedule);

} // namespace brew::compiler::cpu
