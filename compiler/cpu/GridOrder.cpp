//===- GridOrder.cpp - Order of the units of a domain ---------------------===//

#include "compiler/cpu/GridOrder.h"

#include "compiler/cpu/Sums.h"
#include "compiler/kernels/KernelIndices.h"
#include "compiler/kernels/KernelLoops.h"

using namespace mlir;

namespace brew::compiler::cpu {

namespace {

/// Minimum number of terms of all sums of a unit that divideUnit leaves: fewer
/// would not repay the start of a unit.
constexpr int64_t kMinUnitTerms = 16384;

/// Returns the bytes of inputs that one unit of the domain, the loops from
/// `outer` on, reads and that differ between iterations of `loop`.
int64_t changedBytes(const Nest &nest, unsigned outer, unsigned loop) {
  int64_t changed = 0;
  auto count = [&](Type element, auto stepOf) {
    if (stepOf(loop) == 0)
      return;
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    for (unsigned inner = outer; inner < nest.loops.size(); ++inner)
      bytes *= stepOf(inner) != 0 ? nest.loops[inner].extent : 1;
    changed += bytes;
  };
  for (auto [number, input] : llvm::enumerate(nest.inputs))
    if (input)
      count(nest.body()->getArgument(number).getType(),
            [&, &input = input](unsigned loop) {
              return input->address.coefs[loop];
            });
  for (const auto &[op, extract] : nest.extracts)
    count(op->getResult(0).getType(),
          [&, op = op, &extract = extract](unsigned loop) {
            return extractStep(nest, op, extract, loop);
          });
  return changed;
}

/// Counts a grid loop that splitGridLoop has added to the domain.
void addOuterLoop(Schedule &schedule) {
  ++schedule.outerLoops;
  for (std::optional<unsigned> &innermost : schedule.innermost)
    if (innermost)
      ++*innermost;
  for (SmallVector<JammedLoop, 2> &loops : schedule.jammed)
    for (JammedLoop &jammed : loops)
      ++jammed.loop;
}

/// Returns the largest divisor of `extent` that is at most `limit`.
int64_t largestDivisor(int64_t extent, int64_t limit) {
  int64_t divisor = std::clamp<int64_t>(limit, 1, extent);
  while (extent % divisor != 0)
    --divisor;
  return divisor;
}

} // namespace

bool divideUnit(SubKernel &subKernel, Schedule &schedule, int64_t factor,
                dialects::target::CpuAttr cpu) {
  const Nest &nest = subKernel.nests[mainNestOf(subKernel)];
  unsigned loop = schedule.outerLoops;
  int64_t bytes = std::max<int64_t>(changedBytes(nest, loop + 1, loop), 1),
          extent = nest.loops[loop].extent,
          limit = cpu.getL2Bytes() / 4 / bytes,
          block = factor * largestDivisor(extent / factor, limit / factor);
  if (extent * bytes <= cpu.getL2Bytes() / 2 ||
      block * reductionIterations(nest) < kMinUnitTerms)
    return false;
  splitGridLoop(subKernel, loop, block);
  addOuterLoop(schedule);
  return true;
}

void orderGrid(SubKernel &subKernel, Schedule &schedule,
               dialects::target::CpuAttr cpu) {
  const Nest &nest = subKernel.nests[mainNestOf(subKernel)];
  if (nest.reductions() == 0 || schedule.outerLoops < 2)
    return;
  auto changed = [&](unsigned loop) {
    return changedBytes(nest, schedule.outerLoops, loop);
  };
  unsigned last = schedule.outerLoops - 1, shared = last;
  for (unsigned loop = last; loop-- > 0;)
    if (changed(loop) < changed(shared))
      shared = loop;
  moveGridLoop(subKernel, shared, last);
  int64_t bytes = std::max<int64_t>(changed(last), 1),
          extent = nest.loops[last].extent,
          block = largestDivisor(extent, cpu.getL2Bytes() / 2 / bytes);
  if (block == extent || block == 1)
    return;
  splitGridLoop(subKernel, last, block);
  moveGridLoop(subKernel, last - 1, last);
  addOuterLoop(schedule);
}

} // namespace brew::compiler::cpu
