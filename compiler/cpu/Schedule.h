//===- Schedule.h - Loop schedules on a CPU ---------------------*- C++ -*-===//
//
// A sub-kernel's domain [0, N) enumerates units of work; the runtime assigns
// ranges of units to threads. A schedule defines the unit and the loops that
// compute it. LLVM vectorises contiguous inner loops. There are three kinds:
//
//   Flat   A unit is an element. One loop runs over a thread's range.
//   Fused  A unit is a row: all points of the last grid loop. One loop over the
//          row runs all nests at each point. Reductions are unrolled, and
//          values between nests stay in registers.
//   Rows   A unit is a point of the first `outerLoops` grid loops. Each nest
//          runs its own loops. Small buffers contain the values between nests.
//          Reduction loops are innermost or accumulate rows (see
//          RowAccumulation).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cpu {

/// The blocks of a long sum. A block has its own sum, which is added to the
/// total: the rounding error grows with the number of terms of a block plus the
/// number of blocks, not with the number of all terms.
struct SumBlocks {
  /// The position in RowAccumulation::reductions of the loop to divide. A block
  /// contains all iterations of the loops after it.
  unsigned position = 0;
  int64_t length = 1; ///< iterations of that loop in a block
};

/// The accumulation of a row of values, one per iteration of the innermost
/// loop, in memory (or in registers, if LLVM decides so). The nest's reduction
/// loops run outside the innermost loop. If the innermost loop is itself a
/// reduction, the row contains partial sums, which are summed at the end.
struct RowAccumulation {
  unsigned innermost = 0;
  /// Reduction loops to unroll, because the bounds of the innermost loop depend
  /// on them.
  llvm::SmallVector<unsigned> unrolled;
  llvm::SmallVector<unsigned> reductions; ///< reduction loops that stay loops
  std::optional<SumBlocks> blocks;
  /// A parallel loop to unroll by `factor` and jam: its unrolled iterations
  /// share loads and have a row each. If `factor` does not divide its extent,
  /// the last iterations have fewer rows.
  std::optional<unsigned> jammed;
  int64_t factor = 1;
  /// Whether all parallel loops of the unit run inside each block of the sums,
  /// so that what a block reads stays in the cache.
  bool blocksOutside = false;
};

/// A parallel loop whose iterations are unrolled by `factor` inside the
/// reduction loops of its nest, where they share loads.
struct JammedLoop {
  unsigned loop = 0;
  int64_t factor = 1; ///< divides the loop's extent
};

struct Schedule {
  enum class Kind { Flat, Fused, Rows };
  Kind kind = Kind::Rows;
  unsigned outerLoops = 0; ///< grid loops that the domain enumerates (Flat: 0)
  /// Rows: the innermost loop of each nest; nullopt if the nest has no loops
  /// after the first `outerLoops`.
  std::vector<std::optional<unsigned>> innermost;
  /// Rows: set for each nest that accumulates rows.
  std::vector<std::optional<RowAccumulation>> accumulations;
  /// Rows: the jammed loops of each nest that does not accumulate rows.
  std::vector<llvm::SmallVector<JammedLoop, 2>> jammed;
  double unitCost = 1; ///< estimated cycles per unit of the domain
};

/// Chooses the cheapest schedule of `subKernel` on `cpu`, after normaliseLoops.
/// Transforms the sub-kernel accordingly: may split and move grid loops, and
/// assigns temporaries (see assignTemporaries).
Schedule chooseSchedule(SubKernel &subKernel, dialects::target::CpuAttr cpu);

/// Returns the number of units of the sub-kernel's domain under `schedule`.
int64_t domainOf(const SubKernel &subKernel, const Schedule &schedule);

} // namespace brew::compiler::cpu
