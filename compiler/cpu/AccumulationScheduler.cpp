//===- AccumulationScheduler.cpp - Reductions of a schedule ---------------===//

#include "compiler/cpu/AccumulationScheduler.h"

#include "compiler/cpu/GridOrder.h"
#include "compiler/cpu/Sums.h"
#include "compiler/kernels/KernelIndices.h"
#include "compiler/kernels/KernelLoops.h"

using namespace mlir;

namespace brew::compiler::cpu {

namespace {

/// Maximum number of accumulators in memory, where they are if the bounds of
/// the innermost loop vary.
constexpr int64_t kMaxStoredAccumulators = 192;
/// Maximum number of rows of accumulators that share loads.
constexpr int64_t kMaxJammedRows = 8;
/// Number of iterations to jam of each of two loops around a product's sum.
constexpr int64_t kJammedRows = 4;
/// Minimum number of vectors of a product's sum.
constexpr int64_t kMinProductVectors = 4;
/// Maximum number of terms of a block of a sum (see SumBlocks). The vectors
/// that a block of rows that share loads reads leave room in a first-level
/// cache.
constexpr int64_t kMaxBlockTerms = 128;
/// Maximum bytes of the rows of a jammed loop in a unit of the domain, unless
/// the unit has other loops: then its rows take up to a part of the L2 cache.
constexpr int64_t kMaxUnitRowBytes = 32 << 10, kMinL2Parts = 8;
/// Maximum extent of a loop to unroll, and maximum number of copies of a body.
constexpr int64_t kMaxUnrolledExtent = 8, kMaxBodyCopies = 64;

/// Calls visit(stepOf) for every tensor that the nest reads; stepOf(loop) is
/// the step of its address between iterations of a loop, or null.
void forEachRead(const Nest &nest,
                 llvm::function_ref<
                     void(llvm::function_ref<std::optional<int64_t>(unsigned)>)>
                     visit) {
  for (const std::optional<Access> &input : nest.inputs)
    if (input)
      visit([&](unsigned loop) { return input->address.coefs[loop]; });
  for (const auto &[op, extract] : nest.extracts)
    visit([&, op = op, &extract = extract](unsigned loop) {
      return extractStep(nest, op, extract, loop);
    });
}

/// Returns the loads per vector of results of `factor` jammed iterations of
/// `loop` around rows of `vectors` vectors. Inputs that do not change along
/// `loop` are loaded once.
double loadsPerVector(const Nest &nest, unsigned loop, unsigned innermost,
                      int64_t factor, int64_t vectors) {
  double loads = 0;
  forEachRead(nest, [&](auto stepOf) {
    loads += static_cast<double>((stepOf(loop) == 0 ? 1 : factor) *
                                 (stepOf(innermost) == 0 ? 1 : vectors));
  });
  return loads / static_cast<double>(factor * vectors);
}

/// Returns whether iterations of `loop` share an input that changes along
/// `innermost`.
bool sharesVectors(const Nest &nest, unsigned loop, unsigned innermost) {
  bool shares = false;
  forEachRead(nest, [&](auto stepOf) {
    shares |= stepOf(loop) == 0 && stepOf(innermost) != 0;
  });
  return shares;
}

/// Returns whether iterations of `loop` read mostly the same elements, at
/// other iterations of reduction loops.
bool readsOverlap(const Nest &nest, unsigned loop) {
  bool changes = false, overlaps = true;
  forEachRead(nest, [&](auto stepOf) {
    const std::optional<int64_t> step = stepOf(loop);
    if (step == 0)
      return;
    changes = true;
    bool isShift = false;
    for (unsigned other = 0; step && other < nest.loops.size(); ++other)
      if (std::optional<int64_t> distance = stepOf(other);
          nest.loops[other].reduction && distance.value_or(0) != 0)
        isShift |= *distance % *step == 0 &&
                   std::abs(*distance / *step) < nest.loops[loop].extent;
    overlaps &= isShift;
  });
  return changes && overlaps;
}

/// Returns how to divide the sum over the loops `reductions`, or nullopt if it
/// is short.
std::optional<SumBlocks> sumBlocks(const Nest &nest,
                                   ArrayRef<unsigned> reductions) {
  if (!hasLongSums(nest))
    return std::nullopt;
  int64_t terms = 1; // of the loops after `position`
  for (unsigned position = reductions.size(); position-- > 0;) {
    int64_t extent = nest.loops[reductions[position]].extent;
    if (terms * extent > kMaxBlockTerms)
      return SumBlocks{position, std::max<int64_t>(kMaxBlockTerms / terms, 1)};
    terms *= extent;
  }
  return std::nullopt;
}

/// Divides grid loop `loop` and moves `factor` iterations of it into the unit
/// of the domain, to be jammed.
void moveIntoUnit(SubKernel &subKernel, Schedule &schedule, unsigned loop,
                  int64_t factor) {
  splitGridLoop(subKernel, loop, factor);
  moveGridLoop(subKernel, loop + 1, schedule.outerLoops);
  for (std::optional<unsigned> &innermost : schedule.innermost)
    if (innermost)
      ++*innermost;
}

} // namespace

/// Returns the operations that make the bounds of the loop `innermost` vary.
static SmallVector<Operation *> boundsOf(const Nest &nest, unsigned innermost) {
  SmallVector<Operation *> bounds = boundaryOperations(nest, innermost);
  bounds.append(guardOperations(nest, innermost));
  return bounds;
}

/// Returns the number of iterations of `loop` to jam around rows of `vectors`
/// vectors; 1 for no jam.
int64_t AccumulationScheduler::jamFactor(const Nest &nest, unsigned loop,
                                         unsigned innermost,
                                         int64_t vectors) const {
  SmallVector<Operation *> bounds = boundsOf(nest, innermost);
  for (Operation *bound : bounds)
    if (indexStep(nest, bound->getOperand(0), loop) != 0)
      return 1;
  const int64_t limit =
      bounds.empty() ? maxVectors() : kMaxStoredAccumulators / lanes;
  const int64_t extent = nest.loops[loop].extent,
                most = std::min(kMaxJammedRows, limit / vectors);
  if (most < 2)
    return 1;
  // Fewer rows at the end are not worth their code if accumulators are in
  // memory.
  const int64_t least = bounds.empty() ? most * 3 / 4 + 1 : 2;
  for (int64_t factor = std::min(most, extent); factor >= least; --factor)
    if (extent % factor == 0)
      return factor;
  return bounds.empty()
             ? llvm::divideCeil(extent, llvm::divideCeil(extent, most))
             : 1;
}

/// Returns the bytes of a row of the nest's results along `innermost`.
static int64_t rowBytes(const Nest &nest, unsigned innermost) {
  int64_t bits = 0;
  for (const Output &output : nest.outputs)
    bits += output.element.getIntOrFloatBitWidth();
  return llvm::divideCeil(nest.loops[innermost].extent * bits, 8);
}

/// Returns the number of rows along `innermost` in a unit of the domain, the
/// loops from `outer` on.
static int64_t rowsOfUnit(const Nest &nest, unsigned outer,
                          unsigned innermost) {
  int64_t rows = 1;
  for (unsigned loop = outer; loop < nest.loops.size(); ++loop)
    rows *= loop == innermost || nest.loops[loop].reduction
                ? 1
                : nest.loops[loop].extent;
  return rows;
}

int64_t AccumulationScheduler::maxRowLength(const Nest &nest,
                                            unsigned innermost) const {
  const int64_t limit =
      2 * kRegisterRow / std::max<int64_t>(nest.outputs.size(), 2);
  if (!boundsOf(nest, innermost).empty())
    return limit;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (loop != innermost && !nest.loops[loop].reduction &&
        sharesVectors(nest, loop, innermost) &&
        jamFactor(nest, loop, innermost, sharingRowVectors()) > 1)
      return sharingRowVectors() * lanes;
  return limit;
}

/// Chooses the loop to jam among loops [begin, end) of the nest.
void AccumulationScheduler::chooseJam(const Nest &nest, unsigned begin,
                                      unsigned end,
                                      RowAccumulation &accumulation) const {
  const unsigned innermost = accumulation.innermost;
  const int64_t vectors = llvm::divideCeil(nest.loops[innermost].extent, lanes);
  std::optional<double> fewestLoads;
  for (unsigned loop = begin; loop < end; ++loop) {
    if (loop == innermost || nest.loops[loop].reduction)
      continue;
    const int64_t factor = jamFactor(nest, loop, innermost, vectors);
    const double loads = loadsPerVector(nest, loop, innermost, factor, vectors);
    if (factor == 1 || (fewestLoads && loads > *fewestLoads))
      continue;
    fewestLoads = loads;
    accumulation.jammed = loop;
    accumulation.factor = factor;
  }
}

std::optional<RowAccumulation>
AccumulationScheduler::accumulationOf(const Nest &nest, unsigned outer,
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
  const int64_t rows = rowsOfUnit(nest, outer, *innermost);
  accumulation.blocksOutside =
      accumulation.blocks && rows > 1 &&
      rows * rowBytes(nest, *innermost) <= cpu.getL2Bytes() / kMinL2Parts;
  return accumulation;
}

int64_t AccumulationScheduler::maxUnitBytes(const SubKernel &subKernel) const {
  return cpu.getL2Bytes() / kMinL2Parts /
         static_cast<int64_t>(subKernel.nests.size());
}

bool AccumulationScheduler::staysParallel(const SubKernel &subKernel,
                                          const Schedule &schedule,
                                          int64_t factor) const {
  return gridPoints(subKernel, schedule.outerLoops) / factor >=
         2 * cpu.getCores();
}

/// Returns whether a nest computes a sum of several vectors along an innermost
/// loop without boundaries, and accumulates no rows.
bool AccumulationScheduler::isProduct(const SubKernel &subKernel,
                                      const Schedule &schedule,
                                      unsigned number) const {
  const Nest &nest = subKernel.nests[number];
  std::optional<unsigned> innermost = schedule.innermost[number];
  return innermost && nest.loops[*innermost].reduction &&
         sumsInAnyOrder(nest) &&
         nest.loops[*innermost].extent >= kMinProductVectors * lanes &&
         boundsOf(nest, *innermost).empty() &&
         !accumulationOf(nest, schedule.outerLoops, innermost);
}

void AccumulationScheduler::jamProduct(SubKernel &subKernel,
                                       Schedule &schedule) const {
  const unsigned number = mainNestOf(subKernel);
  schedule.jammed.resize(subKernel.nests.size());
  // From the last loop on, since moveIntoUnit adds a loop after `loop`.
  for (unsigned loop = subKernel.grid; loop-- > 0 &&
                                       isProduct(subKernel, schedule, number) &&
                                       schedule.jammed[number].size() < 2;) {
    const Nest &nest = subKernel.nests[number];
    if (nest.loops[loop].extent % kJammedRows != 0 ||
        !sharesVectors(nest, loop, *schedule.innermost[number]))
      continue;
    if (loop >= schedule.outerLoops) {
      bool isDivided = loop == schedule.outerLoops &&
                       divideUnit(subKernel, schedule, kJammedRows, cpu);
      schedule.jammed[number].push_back(
          {isDivided ? loop + 1 : loop, kJammedRows});
      continue;
    }
    if (!staysParallel(subKernel, schedule, kJammedRows))
      return;
    moveIntoUnit(subKernel, schedule, loop, kJammedRows);
    for (JammedLoop &jammed : schedule.jammed[number])
      ++jammed.loop;
    schedule.jammed[number].push_back({schedule.outerLoops, kJammedRows});
  }
}

void AccumulationScheduler::moveRowsLast(SubKernel &subKernel,
                                         Schedule &schedule) const {
  const unsigned number = mainNestOf(subKernel);
  const Nest &nest = subKernel.nests[number];
  const std::optional<unsigned> innermost = schedule.innermost[number];
  if (!innermost || *innermost + 1 >= subKernel.grid ||
      !accumulationOf(nest, schedule.outerLoops, innermost) ||
      nest.loops[*innermost].extent <= maxRowLength(nest, *innermost))
    return;
  const unsigned last = subKernel.grid - 1;
  moveGridLoop(subKernel, *innermost, last);
  schedule.outerLoops = last;
  for (std::optional<unsigned> &loop : schedule.innermost)
    if (loop && *loop < subKernel.grid)
      loop = last;
}

void AccumulationScheduler::moveOverlapsIntoUnit(SubKernel &subKernel,
                                                 Schedule &schedule) const {
  const unsigned number = mainNestOf(subKernel);
  for (unsigned loop = schedule.outerLoops; loop-- > 0;) {
    const Nest &nest = subKernel.nests[number];
    const std::optional<unsigned> innermost = schedule.innermost[number];
    const int64_t extent = nest.loops[loop].extent;
    if (!hasLongSums(nest) || !readsOverlap(nest, loop) ||
        !accumulationOf(nest, schedule.outerLoops, innermost) ||
        extent * rowsOfUnit(nest, schedule.outerLoops, *innermost) *
                rowBytes(nest, *innermost) * kMaxJammedRows >
            maxUnitBytes(subKernel) ||
        !staysParallel(subKernel, schedule, extent))
      continue;
    moveGridLoop(subKernel, loop, --schedule.outerLoops);
  }
}

void AccumulationScheduler::jamGridLoop(SubKernel &subKernel,
                                        Schedule &schedule) const {
  const unsigned mainNest = mainNestOf(subKernel);
  const Nest &nest = subKernel.nests[mainNest];
  std::optional<RowAccumulation> accumulation =
      accumulationOf(nest, schedule.outerLoops, schedule.innermost[mainNest]);
  if (!accumulation)
    return;
  chooseJam(nest, 0, nest.loops.size(), *accumulation);
  if (!accumulation->jammed || *accumulation->jammed >= schedule.outerLoops)
    return;
  const int64_t extent = nest.loops[*accumulation->jammed].extent,
                others = rowsOfUnit(nest, schedule.outerLoops,
                                    accumulation->innermost),
                bytes = others > 1 ? maxUnitBytes(subKernel) : kMaxUnitRowBytes;
  // Accumulators in memory gain nothing from more rows in a unit.
  const int64_t most =
      boundsOf(nest, accumulation->innermost).empty()
          ? bytes / others / rowBytes(nest, accumulation->innermost)
          : accumulation->factor;
  for (int64_t rows = std::min(extent, most); rows >= accumulation->factor;
       --rows)
    if (extent % rows == 0 && staysParallel(subKernel, schedule, rows)) {
      if (rows < extent)
        return moveIntoUnit(subKernel, schedule, *accumulation->jammed, rows);
      moveGridLoop(subKernel, *accumulation->jammed, --schedule.outerLoops);
      return;
    }
}

} // namespace brew::compiler::cpu
