//===- EmitKernelsSchedule.cpp - How the loops of a part run ---------------===//

#include "compiler/cpu/EmitKernelsSchedule.h"

#include "compiler/cpu/EmitKernelsLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace brew::compiler {
namespace {

/// Largest window that is unrolled inside the vector loop.
constexpr int64_t kUnrolledWindow = 32;

int64_t windowOf(const Nest &nest) {
  int64_t window = 1;
  for (const Loop &loop : nest.loops)
    if (loop.reduction)
      window *= loop.extent;
  return window;
}

/// Whether all nests can run point by point in one inner loop.
bool canFuse(const Part &part) {
  if (part.grid == 0)
    return false;
  for (const Nest &nest : part.nests)
    if (nest.loops.size() - nest.reductions() != part.grid ||
        windowOf(nest) > kUnrolledWindow)
      return false;
  return true;
}

int64_t bodySize(const Nest &nest) {
  int64_t size = 0;
  for (Operation &op : nest.body()->without_terminator())
    size += !isa<arith::ConstantOp, linalg::IndexOp>(op);
  return size;
}

int64_t workOf(const Part &part) {
  int64_t work = 0;
  for (const Nest &nest : part.nests)
    work += nest.iterations() * std::max<int64_t>(bodySize(nest), 1);
  return work;
}

} // namespace

Schedule chooseSchedule(Part &part) {
  Schedule schedule;
  if (canFuse(part)) {
    schedule.kind =
        part.grid == 1 ? Schedule::Kind::Flat : Schedule::Kind::Fused;
    schedule.outer = part.grid - 1;
  } else {
    schedule.outer = part.grid;
    placeTemporaries(part, schedule.outer);
    for (Nest &nest : part.nests) {
      std::optional<unsigned> innermost;
      if (nest.loops.size() > schedule.outer)
        innermost = nest.loops.size() - 1;
      schedule.innermost.push_back(innermost);
    }
  }
  schedule.unitWork =
      std::max<int64_t>(1, workOf(part) / domainOf(part, schedule));
  return schedule;
}

int64_t domainOf(const Part &part, const Schedule &schedule) {
  ArrayRef<Loop> grid = part.nests[0].loops;
  if (schedule.kind == Schedule::Kind::Flat)
    return grid[0].extent;
  int64_t domain = 1;
  for (const Loop &loop : grid.take_front(schedule.outer))
    domain *= loop.extent;
  return domain;
}

} // namespace brew::compiler
