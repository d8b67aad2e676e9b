//===- Schedule.cpp - Loop schedules on a CPU -----------------------------===//

#include "compiler/cpu/Schedule.h"

#include "compiler/cpu/NestCosts.h"
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
/// Maximum number of vectors of accumulators that leaves registers for
/// operands, and maximum number of accumulators in memory, where they are if
/// the bounds of the innermost loop vary.
constexpr int64_t kMaxAccumulatorVectors = 24, kMaxStoredAccumulators = 192;
/// Maximum number of rows of accumulators, and number of vectors in a row that
/// shares its loads with other rows, on processors with 32 registers.
constexpr int64_t kMaxJammedRows = 8, kSharingRowVectors = 4;
/// Maximum number of terms of a block of a sum (see SumBlocks).
constexpr int64_t kMaxBlockTerms = 256;
/// Maximum extent of a loop to unroll, and maximum number of copies of a body.
constexpr int64_t kMaxUnrolledExtent = 8, kMaxBodyCopies = 64;

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

int64_t gridPoints(const SubKernel &subKernel, unsigned loops) {
  int64_t points = 1;
  for (const Loop &loop : ArrayRef(subKernel.nests[0].loops).take_front(loops))
    points *= loop.extent;
  return points;
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
  explicit Scheduler(CpuAttr cpu) : costs(cpu), lanes(cpu.lanes()), cpu(cpu) {}

  Schedule run(SubKernel &subKernel) const;

private:
  double fusedCost(const SubKernel &subKernel) const;
  double estimateElapsed(double cost, int64_t units) const;
  int64_t blockSize(int64_t extent, int64_t minSize, int64_t maxSize) const;
  int64_t rowPieceLength(const SubKernel &subKernel,
                         const Choice &choice) const;
  Choice chooseRows(const SubKernel &subKernel) const;
  Choice choose(SubKernel &subKernel) const;
  int64_t jamFactor(const Nest &nest, unsigned loop, unsigned innermost,
                    int64_t vectors) const;
  int64_t maxRowLength(const Nest &nest, unsigned innermost) const;
  void chooseJam(const Nest &nest, unsigned begin, unsigned end,
                 RowAccumulation &accumulation) const;
  std::optional<RowAccumulation>
  accumulationOf(const Nest &nest, unsigned outer,
                 std::optional<unsigned> innermost) const;
  void jamGridLoop(SubKernel &subKernel, Schedule &schedule) const;

  /// Returns the number of ranges that keeps all threads busy.
  int64_t enoughUnits() const { return cpu.getCores(); }
  NestCosts costs;
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

/// Returns the number of loads that jammed iterations of `loop` share.
int64_t sharedReads(const Nest &nest, unsigned loop) {
  int64_t shared = 0;
  for (const std::optional<Access> &input : nest.inputs)
    shared += input && input->address.coefs[loop] == 0;
  for (const auto &entry : nest.extracts)
    shared += extractStep(nest, entry.first, entry.second, loop) == 0;
  return shared;
}

/// Returns the number of iterations of `loop` to jam around rows of `vectors`
/// vectors; 1 for no jam.
int64_t Scheduler::jamFactor(const Nest &nest, unsigned loop,
                             unsigned innermost, int64_t vectors) const {
  SmallVector<Operation *> bounds = boundaryOperations(nest, innermost);
  bounds.append(guardOperations(nest, innermost));
  for (Operation *bound : bounds)
    if (indexStep(nest, bound->getOperand(0), loop) != 0)
      return 1;
  int64_t maxVectors =
      bounds.empty() ? kMaxAccumulatorVectors : kMaxStoredAccumulators / lanes;
  for (int64_t factor = std::min(kMaxJammedRows, maxVectors / vectors);
       factor > 1; --factor)
    if (nest.loops[loop].extent % factor == 0)
      return factor;
  return 1;
}

/// Returns the maximum length of the rows that a nest accumulates along the
/// loop `innermost`.
int64_t Scheduler::maxRowLength(const Nest &nest, unsigned innermost) const {
  const int64_t limit =
      2 * kRegisterRow / std::max<int64_t>(nest.outputs.size(), 2);
  if (cpu.getVectorBits() < 512 ||
      !boundaryOperations(nest, innermost).empty() ||
      !guardOperations(nest, innermost).empty())
    return limit;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (loop != innermost && !nest.loops[loop].reduction &&
        sharedReads(nest, loop) > 0 &&
        jamFactor(nest, loop, innermost, kSharingRowVectors) > 1)
      return kSharingRowVectors * lanes;
  return limit;
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
      int64_t length = maxRowLength(nest, last);
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

/// Chooses the loop to jam among loops [begin, end) of the nest.
void Scheduler::chooseJam(const Nest &nest, unsigned begin, unsigned end,
                          RowAccumulation &accumulation) const {
  int64_t best = 0;
  for (unsigned loop = begin; loop < end; ++loop) {
    if (loop == accumulation.innermost || nest.loops[loop].reduction)
      continue;
    int64_t vectors = llvm::divideCeil(
                nest.loops[accumulation.innermost].extent, lanes),
            factor = jamFactor(nest, loop, accumulation.innermost, vectors),
            gain = factor * (1 + sharedReads(nest, loop));
    if (factor == 1 || gain < best)
      continue;
    best = gain;
    accumulation.jammed = loop;
    accumulation.factor = factor;
  }
}

/// Returns how to divide the sum over the loops `reductions`, or nullopt if it
/// is short.
std::optional<SumBlocks> sumBlocks(const Nest &nest,
                                   ArrayRef<unsigned> reductions) {
  if (!hasLongSums(nest))
    return std::nullopt;
  int64_t terms = 1; // of the loops behind `position`
  for (unsigned position = reductions.size(); position-- > 0;) {
    int64_t extent = nest.loops[reductions[position]].extent;
    if (terms * extent > kMaxBlockTerms)
      return SumBlocks{position, std::max<int64_t>(kMaxBlockTerms / terms, 1)};
    terms *= extent;
  }
  return std::nullopt;
}

/// Returns how a nest accumulates rows, or nullopt if it does not.
std::optional<RowAccumulation>
Scheduler::accumulationOf(const Nest &nest, unsigned outer,
                          std::optional<unsigned> innermost) const {
  if (!innermost || nest.reductions() == 0 ||
      (nest.loops[*innermost].reduction &&
       !costs.hasPartialSums(nest, *innermost)))
    return std::nullopt;
  RowAccumulation accumulation;
  accumulation.innermost = *innermost;
  SmallVector<Operation *> bounds = boundaryOperations(nest, *innermost);
  int64_t bodyCopies = 1;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    if (!nest.loops[loop].reduction || loop == *innermost)
      continue;
    int64_t extent = nest.loops[loop].extent;
    bool isUnrolled = nest.reorderable && extent <= kMaxUnrolledExtent &&
                      bodyCopies * extent * kMaxJammedRows <= kMaxBodyCopies &&
                      llvm::any_of(bounds, [&](Operation *bound) {
                        return indexStep(nest, bound->getOperand(0), loop) != 0;
                      });
    (isUnrolled ? accumulation.unrolled : accumulation.reductions)
        .push_back(loop);
    bodyCopies *= isUnrolled ? extent : 1;
  }
  accumulation.blocks = sumBlocks(nest, accumulation.reductions);
  chooseJam(nest, outer, nest.loops.size(), accumulation);
  return accumulation;
}

/// If the nest with the most work accumulates single rows, moves some
/// iterations of a grid loop into the unit of the domain, to be jammed.
void Scheduler::jamGridLoop(SubKernel &subKernel, Schedule &schedule) const {
  unsigned mainNest = 0;
  for (unsigned n = 0; n < subKernel.nests.size(); ++n)
    if (subKernel.nests[n].iterations() >
        subKernel.nests[mainNest].iterations())
      mainNest = n;
  const Nest &nest = subKernel.nests[mainNest];
  std::optional<RowAccumulation> accumulation =
      accumulationOf(nest, schedule.outerLoops, schedule.innermost[mainNest]);
  if (!accumulation || accumulation->jammed)
    return;
  chooseJam(nest, 0, schedule.outerLoops, *accumulation);
  if (!accumulation->jammed ||
      gridPoints(subKernel, schedule.outerLoops) / accumulation->factor <
          2 * enoughUnits())
    return;
  splitGridLoop(subKernel, *accumulation->jammed, accumulation->factor);
  moveGridLoop(subKernel, *accumulation->jammed + 1, schedule.outerLoops);
  for (std::optional<unsigned> &innermost : schedule.innermost)
    if (innermost)
      ++*innermost;
}

Schedule Scheduler::run(SubKernel &subKernel) const {
  Choice choice = choose(subKernel);
  Schedule &schedule = choice.schedule;
  if (schedule.kind != Schedule::Kind::Flat)
    divideRows(subKernel, schedule, rowPieceLength(subKernel, choice));
  if (schedule.kind == Schedule::Kind::Rows) {
    jamGridLoop(subKernel, schedule);
    for (auto [nest, innermost] :
         llvm::zip(subKernel.nests, schedule.innermost))
      schedule.accumulations.push_back(
          accumulationOf(nest, schedule.outerLoops, innermost));
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
