//===- Schedule.h - Loop schedules on a CPU ---------------------*- C++ -*-===//
//
// There are three schedules. In each, the range of units that the runtime
// assigns to a thread enumerates some leading grid loops, and LLVM vectorises
// contiguous inner loops.
//
//   Flat   one loop over all elements; the range is its bounds.
//   Fused  the range enumerates rows; one inner loop over the last grid loop
//          runs all nests at each point, windows unrolled, values between nests
//          in registers.
//   Rows   the range enumerates rows or points; each nest runs its own loops,
//          values between nests are in small buffers. Reductions are innermost
//          or accumulate rows (see RowAccumulation).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cpu {

/// RowAccumulation of a row of values, one per iteration of the innermost loop,
/// in memory (or registers, if LLVM decides so). The other reductions run
/// outside the innermost loop. If the innermost loop is a reduction as well,
/// the row contains partial sums, which are added up at the end.
struct RowAccumulation {
  unsigned innermost = 0;
  /// Reductions to unroll, because the bounds of the innermost loop depend on
  /// them.
  llvm::SmallVector<unsigned> unrolled;
  llvm::SmallVector<unsigned> reductions; ///< the other reductions
  /// A parallel loop to unroll by `factor` and jam: its iterations share loads
  /// and have a row each.
  std::optional<unsigned> jammed;
  int64_t factor = 1;
};

struct Schedule {
  enum class Kind { Flat, Fused, Rows };
  Kind kind = Kind::Rows;
  unsigned outerLoops = 0; ///< grid loops that the range enumerates
  /// Rows: the innermost loop of each nest, if any is inside `outerLoops`.
  std::vector<std::optional<unsigned>> innermost;
  /// Rows: set for each nest that accumulates rows.
  std::vector<std::optional<RowAccumulation>> accumulations;
  double unitCost = 1; ///< estimated cycles per unit of the domain
};

/// Chooses the cheapest schedule of `subKernel` (normalised) on `cpu` and
/// transforms it accordingly: may split grid loops, and assigns temporaries.
Schedule chooseSchedule(SubKernel &subKernel, dialects::target::CpuAttr cpu);

/// Returns the units of the sub-kernel's domain under `schedule`.
int64_t domainOf(const SubKernel &subKernel, const Schedule &schedule);

} // namespace brew::compiler::cpu
