//===- EmitKernelsSchedule.h - How the loops of a part run -------*- C++
//-*-===//
//
// Three schedules. All enumerate some leading grid loops with the range that
// the runtime hands out, and leave contiguous inner loops to LLVM's vectoriser.
//
//   Flat   one loop over all elements; the range is its bounds.
//   Fused  the range enumerates rows; one inner loop over the last grid loop
//          runs all nests at each point, windows unrolled, values between nests
//          in registers.
//   Rows   the range enumerates rows or points; each nest runs its own loops,
//          values between nests lie in small buffers. Reductions either
//          accumulate in memory, outside a parallel innermost loop, or are
//          innermost themselves.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cpu/EmitKernelsModel.h"

namespace brew::compiler {

struct Schedule {
  enum class Kind { Flat, Fused, Rows };
  Kind kind = Kind::Rows;
  unsigned outer = 0; ///< grid loops that the range enumerates
  /// Rows: the innermost loop of each nest, if it has any inside `outer`.
  std::vector<std::optional<unsigned>> innermost;
  double unitCost = 1; ///< estimate for one unit of the domain, in cycles
};

/// Chooses the cheapest schedule of `part` (normalised) and prepares the part
/// for it: may split grid loops, and places temporaries.
Schedule chooseSchedule(Part &part);

/// Units of the part's domain under `schedule`.
int64_t domainOf(const Part &part, const Schedule &schedule);

} // namespace brew::compiler
