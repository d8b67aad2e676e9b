//===- EmitKernelsSchedule.cpp - How the loops of a part run
//---------------===//
//
// Costs are rough cycles of a machine with 16-lane vectors. They only need to
// rank: contiguous vectors before gathers, registers before memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/EmitKernelsSchedule.h"

#include "compiler/cpu/EmitKernelsLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace brew::compiler {

namespace {

constexpr int64_t kLanes = 16;
/// Largest window that is unrolled inside the vector loop.
constexpr int64_t kUnrolledWindow = 32;
/// A row of accumulators that LLVM keeps in registers.
constexpr int64_t kRegisterRow = 128;
/// Bytes of temporaries beyond which a finer grid is better.
constexpr int64_t kTemporaryBytes = 65536;
/// Ranges that keep many threads busy.
constexpr int64_t kEnoughUnits = 4;
/// What the start of a loop costs, and a vector's sum in the end.
constexpr double kLoopCost = 8, kHorizontalCost = 12;
/// Below this, a part runs on one thread anyway.
constexpr double kParallelCost = 20000;

int64_t windowOf(const Nest &nest) {
  int64_t window = 1;
  for (const Loop &loop : nest.loops)
    if (loop.reduction)
      window *= loop.extent;
  return window;
}

/// Cost of accessing 16 consecutive iterations' elements.
double accessCost(std::optional<int64_t> step) {
  if (!step)
    return kLanes;
  if (*step == 0)
    return 0.1;
  return std::abs(*step) == 1 ? 1 : 0.8 * kLanes;
}

std::optional<int64_t> extractStep(const Nest &nest, Operation *op,
                                   const Extract &access, unsigned loop) {
  int64_t step = access.address.coefs[loop];
  auto extract = cast<tensor::ExtractOp>(op);
  for (auto [stride, index] : llvm::zip(access.strides, extract.getIndices())) {
    if (stride == 0)
      continue;
    std::optional<int64_t> moved = indexStep(nest, index, loop);
    if (!moved)
      return std::nullopt;
    step += stride * *moved;
  }
  return step;
}

/// What 16 iterations of the body cost but for memory.
double computeCost(const Nest &nest) {
  double cost = 0;
  for (Operation &op : nest.body()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp, tensor::ExtractOp>(op) ||
        op.getResult(0).getType().isIndex())
      continue;
    bool slow =
        isa<arith::DivFOp>(op) || op.getDialect()->getNamespace() == "math";
    cost += slow ? 8 : 0.5;
  }
  return cost;
}

/// Cost of one iteration on average with `loop` innermost and vectorised.
double iterationCost(const Nest &nest, unsigned loop) {
  double cost = computeCost(nest);
  for (const std::optional<Access> &input : nest.inputs)
    if (input && input->source.kind != Source::Kind::Constant)
      cost += accessCost(input->address.coefs[loop]);
  for (const auto &entry : nest.extracts)
    cost += accessCost(extractStep(nest, entry.first, entry.second, loop));
  double vectors = (nest.loops[loop].extent + kLanes - 1) / kLanes;
  cost += kLoopCost / vectors;
  if (nest.loops[loop].reduction) {
    if (!nest.reorderable) // one lane after the other
      return cost;
    cost += kHorizontalCost / vectors;
  } else {
    int64_t window = windowOf(nest);
    for (const Output &output : nest.outputs)
      cost += accessCost(output.address.coefs[loop]) / window;
    if (window > 1) // accumulators in memory
      cost += nest.loops[loop].extent > kRegisterRow ? 1 : 0.2;
  }
  return cost * vectors / nest.loops[loop].extent;
}

/// Cost of a nest whose loops from `outer` on run by themselves; sets the best
/// innermost loop.
double rowsCost(const Nest &nest, unsigned outer,
                std::optional<unsigned> &innermost) {
  double best = 0;
  innermost.reset();
  for (unsigned loop = outer; loop < nest.loops.size(); ++loop) {
    // Only the last reduction may be innermost where their order counts.
    if (nest.loops[loop].reduction && !nest.reorderable &&
        loop + 1 != nest.loops.size())
      continue;
    double cost = iterationCost(nest, loop);
    if (innermost && cost >= best)
      continue;
    best = cost;
    innermost = loop;
  }
  if (!innermost) // a scalar per grid point
    best = computeCost(nest) + nest.inputs.size() + nest.outputs.size();
  return best * nest.iterations();
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

double fusedCost(const Part &part) {
  double cost = 0;
  for (const Nest &nest : part.nests)
    cost += iterationCost(nest, part.grid - 1) * nest.iterations();
  return cost;
}

int64_t gridPoints(const Part &part, unsigned loops) {
  int64_t points = 1;
  for (const Loop &loop : ArrayRef(part.nests[0].loops).take_front(loops))
    points *= loop.extent;
  return points;
}

/// Time on many threads.
double elapsed(double cost, int64_t units) {
  double threads = std::min<double>(
      {double(units), double(kEnoughUnits), cost / kParallelCost});
  return cost / std::max(threads, 1.0);
}

/// Bytes of temporaries per unit.
int64_t temporaryBytes(const Part &part, unsigned outer) {
  int64_t bytes = 0;
  for (const Nest &nest : part.nests)
    for (const Output &output : nest.outputs) {
      if (!output.overwritesRead &&
          !(output.arguments.empty() && output.readLater))
        continue;
      int64_t size =
          llvm::divideCeil(output.element.getIntOrFloatBitWidth(), 8);
      for (const Loop &loop : ArrayRef(nest.loops).drop_front(outer))
        if (!loop.reduction)
          size *= loop.extent;
      bytes += size;
    }
  return bytes;
}

/// The largest divisor of `extent` up to `limit`, multiples of the vector
/// length first; 1 if none reaches `least`.
int64_t blockSize(int64_t extent, int64_t least, int64_t limit) {
  int64_t best = 1;
  for (int64_t size = least; size <= std::min(limit, extent / 2); ++size)
    if (extent % size == 0 && (size % kLanes == 0 || best % kLanes != 0))
      best = size;
  return best;
}

/// Divides rows of the last grid loop, which lies inside `outer`, where rows
/// are too long for registers or too few for threads.
void divideRows(Part &part, Schedule &schedule) {
  if (schedule.outer + 1 != part.grid)
    return;
  unsigned last = part.grid - 1;
  int64_t extent = part.nests[0].loops[last].extent, size = 1;
  bool few = gridPoints(part, schedule.outer) < kEnoughUnits;
  if (schedule.kind == Schedule::Kind::Fused) {
    if (few && extent >= 1024)
      size = blockSize(extent, 256, 2048);
  } else {
    bool accumulates = false;
    for (auto [nest, innermost] : llvm::zip(part.nests, schedule.innermost))
      accumulates |= innermost == last && nest.reductions() > 0;
    if (accumulates && extent > kRegisterRow)
      size = blockSize(extent, 48, kRegisterRow);
  }
  if (size == 1)
    return;
  splitGridLoop(part, last, size);
  ++schedule.outer;
  for (std::optional<unsigned> &innermost : schedule.innermost)
    if (innermost && *innermost >= last)
      ++*innermost;
}

} // namespace

namespace {

/// A schedule and what it is estimated to take.
struct Choice {
  Schedule schedule;
  double cost = 0;    ///< on one thread
  double elapsed = 0; ///< on several
};

/// The best schedule that runs nests row by row, with the grid as it is.
Choice chooseRows(const Part &part) {
  Choice best;
  for (unsigned outer = part.grid + 1; outer-- > 0;) {
    Choice choice;
    choice.schedule.outer = outer;
    for (const Nest &nest : part.nests)
      choice.cost +=
          rowsCost(nest, outer, choice.schedule.innermost.emplace_back());
    choice.elapsed = elapsed(choice.cost, gridPoints(part, outer));
    if (outer == part.grid || (choice.elapsed < best.elapsed &&
                               temporaryBytes(part, outer) <= kTemporaryBytes))
      best = choice;
  }
  return best;
}

/// The best of all: which grid loop comes last, and inside how many of them
/// the nests run.
Choice choose(Part &part) {
  Choice best = chooseRows(part);
  // Values that stay in registers save what the other estimate leaves out.
  if (canFuse(part)) {
    Choice fused;
    fused.schedule.kind =
        part.grid == 1 ? Schedule::Kind::Flat : Schedule::Kind::Fused;
    fused.schedule.outer = part.grid - 1;
    fused.cost = fusedCost(part);
    fused.elapsed = elapsed(fused.cost, kEnoughUnits);
    if (fused.elapsed <= 1.5 * best.elapsed)
      return fused;
  }
  // Reductions may have contiguous operands along another loop than results.
  std::optional<unsigned> last;
  for (unsigned loop = 0; loop + 1 < part.grid; ++loop) {
    Part moved = part;
    moveGridLoopLast(moved, loop);
    Choice choice = chooseRows(moved);
    if (choice.elapsed >= 0.8 * best.elapsed)
      continue;
    best = choice;
    last = loop;
  }
  if (last)
    moveGridLoopLast(part, *last);
  return best;
}

} // namespace

Schedule chooseSchedule(Part &part) {
  auto [schedule, cost, elapsed] = choose(part);
  if (schedule.kind != Schedule::Kind::Flat)
    divideRows(part, schedule);
  if (schedule.kind == Schedule::Kind::Rows)
    placeTemporaries(part, schedule.outer);
  schedule.unitCost = cost / static_cast<double>(domainOf(part, schedule));
  return schedule;
}

int64_t domainOf(const Part &part, const Schedule &schedule) {
  if (schedule.kind == Schedule::Kind::Flat)
    return part.nests[0].loops[0].extent;
  return gridPoints(part, schedule.outer);
}

} // namespace brew::compiler
