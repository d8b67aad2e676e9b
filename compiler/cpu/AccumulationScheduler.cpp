//===- AccumulationScheduler.cpp - Reductions of a schedule ---------------===//

#include "compiler/cpu/AccumulationScheduler.h"

#include "compiler/cpu/GridOrder.h"
#include "compiler/cpu/Sums.h"
#include "compiler/kernels/KernelIndices.h"
#include "compiler/kernels/KernelLoops.h"

using namespace mlir;

namespace brew::compiler::cpu {

namespace {

/// Maximum number of vectors of accumulators that leaves registers for
/// operands, and maximum number of accumulators in memory, where they are if
/// the bounds of the innermost loop vary.
constexpr int64_t kMaxAccumulatorVectors = 24, kMaxStoredAccumulators = 192;
/// Maximum number of rows of accumulators, and number of vectors in a row that
/// shares its loads with other rows, on processors with 32 registers.
constexpr int64_t kMaxJammedRows = 8, kSharingRowVectors = 4;
/// Number of iterations to jam of each of two loops around a product's sum.
constexpr int64_t kJammedRows = 4;
/// Minimum number of vectors of a product's sum.
constexpr int64_t kMinProductVectors = 4;
/// Maximum number of terms of a block of a sum (see SumBlocks).
constexpr int64_t kMaxBlockTerms = 256;
/// Maximum extent of a loop to unroll, and maximum number of copies of a body.
constexpr int64_t kMaxUnrolledExtent = 8, kMaxBodyCopies = 64;

/// Returns the number of loads that jammed iterations of `loop` share.
int64_t sharedReads(const Nest &nest, unsigned loop) {
  int64_t shared = 0;
  for (const std::optional<Access> &input : nest.inputs)
    shared += input && input->address.coefs[loop] == 0;
  for (const auto &entry : nest.extracts)
    shared += extractStep(nest, entry.first, entry.second, loop) == 0;
  return shared;
}

/// Returns whether iterations of `loop` share an input that changes along
/// `innermost`.
bool sharesVectors(const Nest &nest, unsigned loop, unsigned innermost) {
  for (const std::optional<Access> &input : nest.inputs)
    if (input && input->address.coefs[loop] == 0 &&
        input->address.coefs[innermost] != 0)
      return true;
  return llvm::any_of(nest.extracts, [&](const auto &entry) {
    return extractStep(nest, entry.first, entry.second, loop) == 0 &&
           extractStep(nest, entry.first, entry.second, innermost) != 0;
  });
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

/// Returns the number of iterations of `loop` to jam around rows of `vectors`
/// vectors; 1 for no jam.
int64_t AccumulationScheduler::jamFactor(const Nest &nest, unsigned loop,
                                         unsigned innermost,
                                         int64_t vectors) const {
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

int64_t AccumulationScheduler::maxRowLength(const Nest &nest,
                                            unsigned innermost) const {
  const int64_t limit =
      2 * kRegisterRow / std::max<int64_t>(nest.outputs.size(), 2);
  if (cpu.getVectorBits() < 512 ||
      !boundaryOperations(nest, innermost).empty() ||
      !guardOperations(nest, innermost).empty())
    return limit;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (loop != innermost && !nest.loops[loop].reduction &&
        sharesVectors(nest, loop, innermost) &&
        jamFactor(nest, loop, innermost, kSharingRowVectors) > 1)
      return kSharingRowVectors * lanes;
  return limit;
}

/// Chooses the loop to jam among loops [begin, end) of the nest.
void AccumulationScheduler::chooseJam(const Nest &nest, unsigned begin,
                                      unsigned end,
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
  return accumulation;
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
         boundaryOperations(nest, *innermost).empty() &&
         guardOperations(nest, *innermost).empty() &&
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

void AccumulationScheduler::jamGridLoop(SubKernel &subKernel,
                                        Schedule &schedule) const {
  const unsigned mainNest = mainNestOf(subKernel);
  const Nest &nest = subKernel.nests[mainNest];
  std::optional<RowAccumulation> accumulation =
      accumulationOf(nest, schedule.outerLoops, schedule.innermost[mainNest]);
  if (!accumulation || accumulation->jammed)
    return;
  chooseJam(nest, 0, schedule.outerLoops, *accumulation);
  if (!accumulation->jammed ||
      !staysParallel(subKernel, schedule, accumulation->factor))
    return;
  moveIntoUnit(subKernel, schedule, *accumulation->jammed,
               accumulation->factor);
}

} // namespace brew::compiler::cpu
