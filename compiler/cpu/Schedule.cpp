//===- Schedule.cpp - Loop schedules on a CPU -----------------------------===//

#include "compiler/cpu/Schedule.h"

#include "compiler/cpu/AccumulationScheduler.h"
#include "compiler/cpu/GridOrder.h"
#include "compiler/cpu/NestCosts.h"
#include "compiler/cpu/Sums.h"
#include "compiler/kernels/KernelIndices.h"
#include "compiler/kernels/KernelLoops.h"
#include "compiler/kernels/KernelTemporaries.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace brew::compiler::cpu {

namespace {

using dialects::target::CpuAttr;

/// Maximum window to unroll inside the vector loop.
constexpr int64_t kMaxUnrolledWindow = 32;
/// Returns whether all nests can run point by point in one inner loop.
bool canFuse(const SubKernel &subKernel) {
  if (subKernel.grid == 0)
    return false;
  for (const Nest &nest : subKernel.nests)
    if (nest.loops.size() - nest.reductions() != subKernel.grid ||
        reductionIterations(nest) > kMaxUnrolledWindow)
      return false;
  return true;
}

/// Returns the size in bytes of the temporaries of a unit of the domain.
int64_t temporaryBytes(const SubKernel &subKernel, unsigned outer) {
  int64_t bytes = 0;
  for (const Nest &nest : subKernel.nests)
    for (const Output &output : nest.outputs) {
      if (!output.overwritesLiveInput &&
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

/// A schedule and its estimated cycles.
struct Choice {
  Schedule schedule;
  double cost = 0;    ///< on one thread
  double elapsed = 0; ///< on several threads
};

class Scheduler {
public:
  explicit Scheduler(CpuAttr cpu)
      : costs(cpu), accumulations(cpu), lanes(cpu.lanes()), cpu(cpu) {}

  Schedule run(SubKernel &subKernel) const;

private:
  double fusedCost(const SubKernel &subKernel) const;
  double estimateElapsed(double cost, int64_t units) const;
  int64_t blockSize(int64_t extent, int64_t minSize, int64_t maxSize) const;
  int64_t rowPieceLength(const SubKernel &subKernel,
                         const Choice &choice) const;
  Choice chooseRows(const SubKernel &subKernel) const;
  Choice choose(SubKernel &subKernel) const;

  /// Returns the number of ranges that keeps all threads busy.
  int64_t enoughUnits() const { return cpu.getCores(); }
  NestCosts costs;
  AccumulationScheduler accumulations;
  int64_t lanes; ///< elements of a vector
  CpuAttr cpu;
};

double Scheduler::fusedCost(const SubKernel &subKernel) const {
  double cost = 0;
  for (const Nest &nest : subKernel.nests)
    cost += costs.iterationCost(nest, subKernel.grid - 1) * nest.iterations();
  return cost;
}

/// Returns the estimated time on many threads.
double Scheduler::estimateElapsed(double cost, int64_t units) const {
  double threads = std::min<double>(
      {double(units), double(enoughUnits()), cost / CpuAttr::kParallelCycles});
  return cost / std::max(threads, 1.0);
}

/// Returns the largest divisor of `extent` from `minSize` to `maxSize`,
/// preferably a multiple of the vector length; 1 if there is none.
int64_t Scheduler::blockSize(int64_t extent, int64_t minSize,
                             int64_t maxSize) const {
  int64_t best = 1;
  for (int64_t size = minSize; size <= std::min(maxSize, extent / 2); ++size)
    if (extent % size == 0 && (size % lanes == 0 || best % lanes != 0))
      best = size;
  return best;
}

/// Returns the length of the pieces into which to split rows of the last grid
/// loop inside `outerLoops`, if the rows are too long for registers or too few
/// for the threads. Returns 1 for no split.
int64_t Scheduler::rowPieceLength(const SubKernel &subKernel,
                                  const Choice &choice) const {
  const Schedule &schedule = choice.schedule;
  if (schedule.outerLoops + 1 != subKernel.grid)
    return 1;
  unsigned last = subKernel.grid - 1;
  int64_t extent = subKernel.nests[0].loops[last].extent,
          points = gridPoints(subKernel, schedule.outerLoops);
  if (schedule.kind == Schedule::Kind::Fused)
    return points < enoughUnits() && extent >= 64 * lanes
               ? blockSize(extent, 16 * lanes, 128 * lanes)
               : 1;
  std::optional<int64_t> maxLength; // of rows that nests accumulate
  for (auto [nest, innermost] : llvm::zip(subKernel.nests, schedule.innermost))
    if (innermost == last && nest.reductions() > 0) {
      int64_t length = accumulations.maxRowLength(nest, last);
      maxLength = std::min(maxLength.value_or(length), length);
    }
  if (!maxLength)
    return 1;
  int64_t limit = *maxLength;
  int64_t size =
      extent > limit
          ? blockSize(extent, std::min<int64_t>(limit, 3 * lanes), limit)
          : 1;
  int64_t units = points * (size == 1 ? 1 : extent / size);
  // Splits a large reduction with few results further, such as the reduction of
  // a batch for each channel.
  if (units < enoughUnits() && choice.cost > 2 * CpuAttr::kParallelCycles) {
    int64_t finer = blockSize(extent, lanes,
                              std::max(lanes, extent * points / enoughUnits()));
    if (finer % lanes == 0)
      return finer;
  }
  return size;
}

/// Splits the last grid loop into pieces of `size` iterations; no-op for 1.
void divideRows(SubKernel &subKernel, Schedule &schedule, int64_t size) {
  if (size == 1)
    return;
  unsigned last = subKernel.grid - 1;
  splitGridLoop(subKernel, last, size);
  ++schedule.outerLoops;
  for (std::optional<unsigned> &innermost : schedule.innermost)
    if (innermost && *innermost >= last)
      ++*innermost;
}

/// Splits the grid loops whose indices the bodies divide, so that quotients and
/// remainders change along one of the loops only. Loops of contiguous results
/// stay as long as a vector of `lanes` elements. Sub-kernels without reductions
/// divide their innermost loop into pieces instead.
void splitDividedLoops(SubKernel &subKernel, int64_t lanes) {
  const Nest &nest = subKernel.nests[mainNestOf(subKernel)];
  if (nest.reductions() == 0)
    return;
  for (unsigned loop = 0; loop < subKernel.grid; ++loop)
    while (std::optional<int64_t> divisor = commonDivisor(subKernel, loop)) {
      const bool isContiguous = nest.outputs[0].address.coefs[loop] == 1;
      if (*divisor == nest.loops[loop].extent ||
          (isContiguous && *divisor < lanes))
        break;
      splitGridLoop(subKernel, loop, *divisor);
    }
}

/// Returns the best Rows schedule for the grid as it is.
Choice Scheduler::chooseRows(const SubKernel &subKernel) const {
  // More temporaries would evict input data from the cache; a finer grid is
  // better.
  const int64_t maxTemporaryBytes = cpu.getL2Bytes() / 16;
  Choice best;
  for (unsigned outer = subKernel.grid + 1; outer-- > 0;) {
    Choice choice;
    choice.schedule.outerLoops = outer;
    for (const Nest &nest : subKernel.nests)
      choice.cost +=
          costs.rowsCost(nest, outer, choice.schedule.innermost.emplace_back());
    int64_t units = gridPoints(subKernel, outer),
            size = rowPieceLength(subKernel, choice);
    if (size > 1)
      units *= subKernel.nests[0].loops[outer].extent / size;
    choice.elapsed = estimateElapsed(choice.cost, units);
    if (outer == subKernel.grid ||
        (choice.elapsed < best.elapsed &&
         temporaryBytes(subKernel, outer) <= maxTemporaryBytes))
      best = choice;
  }
  return best;
}

/// Chooses the schedule, which grid loop comes last, and how many grid loops
/// enclose the nests.
Choice Scheduler::choose(SubKernel &subKernel) const {
  Choice best = chooseRows(subKernel);
  // Prefers fusion, since the estimate ignores the memory traffic that values
  // in registers save.
  if (canFuse(subKernel)) {
    Choice fused;
    fused.schedule.kind =
        subKernel.grid == 1 ? Schedule::Kind::Flat : Schedule::Kind::Fused;
    fused.schedule.outerLoops = subKernel.grid - 1;
    fused.cost = fusedCost(subKernel);
    fused.elapsed = estimateElapsed(fused.cost, enoughUnits());
    if (fused.elapsed <= 1.5 * best.elapsed)
      return fused;
  }
  // The loop along which reductions read contiguously may differ from the loop
  // along which they write results.
  std::optional<unsigned> movedLoop;
  for (unsigned loop = 0; loop + 1 < subKernel.grid; ++loop) {
    SubKernel moved = subKernel;
    moveGridLoop(moved, loop, subKernel.grid - 1);
    Choice choice = chooseRows(moved);
    if (choice.elapsed >= 0.8 * best.elapsed)
      continue;
    best = choice;
    movedLoop = loop;
  }
  if (movedLoop)
    moveGridLoop(subKernel, *movedLoop, subKernel.grid - 1);
  return best;
}

Schedule Scheduler::run(SubKernel &subKernel) const {
  splitDividedLoops(subKernel, lanes);
  Choice choice = choose(subKernel);
  Schedule &schedule = choice.schedule;
  if (schedule.kind == Schedule::Kind::Rows)
    accumulations.moveRowsLast(subKernel, schedule);
  if (schedule.kind != Schedule::Kind::Flat)
    divideRows(subKernel, schedule, rowPieceLength(subKernel, choice));
  if (schedule.kind == Schedule::Kind::Rows) {
    accumulations.moveOverlapsIntoUnit(subKernel, schedule);
    accumulations.jamGridLoop(subKernel, schedule);
    accumulations.jamProduct(subKernel, schedule);
    orderGrid(subKernel, schedule, cpu);
    for (auto [nest, innermost] :
         llvm::zip(subKernel.nests, schedule.innermost))
      schedule.accumulations.push_back(
          accumulations.accumulationOf(nest, schedule.outerLoops, innermost));
    assignTemporaries(subKernel, schedule.outerLoops);
  }
  schedule.unitCost =
      choice.cost / static_cast<double>(domainOf(subKernel, schedule));
  return schedule;
}

} // namespace

Schedule chooseSchedule(SubKernel &subKernel, CpuAttr cpu) {
  return Scheduler(cpu).run(subKernel);
}

int64_t domainOf(const SubKernel &subKernel, const Schedule &schedule) {
  if (schedule.kind == Schedule::Kind::Flat)
    return subKernel.nests[0].loops[0].extent;
  return gridPoints(subKernel, schedule.outerLoops);
}

} // namespace brew::compiler::cpu
