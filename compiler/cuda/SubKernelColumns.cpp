//===- SubKernelColumns.cpp - Sub-kernels in columns ----------------------===//
#include "compiler/cuda/SubKernelEmitter.h"

#include "compiler/kernels/KernelIndices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace brew::compiler::cuda {

/// Returns the number of elements or packs that an iteration reads.
static int loadsPerIteration(const Nest &nest) {
  int loads = 0;
  auto countIfMoving = [&](const Source &source, auto stepAlong) {
    bool moves = false;
    for (auto [number, loop] : llvm::enumerate(nest.loops))
      moves |= loop.reduction && stepAlong(number) != 0;
    loads += source.kind == Source::Kind::Argument && moves;
  };
  for (const std::optional<Access> &input : nest.inputs)
    if (input)
      countIfMoving(input->source, [&](unsigned loop) {
        return std::optional(input->address.coefs[loop]);
      });
  for (const auto &[op, extract] : nest.extracts)
    countIfMoving(extract.source,
                  [&, op = op, &extract = extract](unsigned loop) {
                    return extractStep(nest, op, extract, loop);
                  });
  return std::max(loads, 1);
}

std::string SubKernelEmitter::unrollPragma(const NestSchedule &inner) const {
  int iterations = inner.pack > 1 ? 4 : 8;
  if (!text.stages.empty())
    iterations /= 2;
  // More loads would not fit in registers.
  const int maxLoads = 3 * iterations;
  const int loads = loadsPerIteration(subKernel.nests.front());
  return "#pragma unroll " +
         std::to_string(std::clamp(maxLoads / loads, 1, iterations));
}

Code SubKernelEmitter::enterColumns() {
  const unsigned last = subKernel.grid - 1;
  const int64_t extent = subKernel.nests.front().loops[last].extent;
  const int64_t tiles = llvm::divideCeil(extent, schedule.columns);
  Code block = text.block;
  if (schedule.firstBlock)
    block = Code::group(block + " - " + text.count(schedule.firstBlock));
  if (subKernel.inLastBlock)
    block = tiles == 1 ? text.count(0) : block + " % " + text.count(tiles);
  lines.line("const unsigned lane = threadIdx.x;");
  lines.line("const " + text.counter() + " point = " + block + ";");
  SmallVector<unsigned> grid =
      llvm::to_vector(llvm::seq<unsigned>(0, subKernel.grid));
  gridIndices.resize(subKernel.grid);
  unravel(Code::word("point"), grid, subKernel.nests.front(), gridIndices, "i",
          tiles, schedule.columns);
  return gridIndices[last];
}

Code SubKernelEmitter::columnOf(const Code &begin, const Code &number,
                                unsigned width, Code *isValid) {
  const int64_t extent =
      subKernel.nests.front().loops[subKernel.grid - 1].extent;
  Code column = begin + " + " + number;
  if (extent % schedule.columns != 0) {
    // Threads without a point of their own repeat the last one.
    Code ownColumn = text.numbered("i");
    lines.line("const " + text.index() + " " + ownColumn + " = " + column +
               ";");
    column = ownColumn + " < " + std::to_string(extent) + " ? " + ownColumn +
             " : " + std::to_string(extent - width);
    if (isValid)
      *isValid += " && " + ownColumn + " < " + std::to_string(extent);
  }
  Code index = text.numbered("i");
  lines.line("const " + text.index() + " " + index + " = " + column + ";");
  return index;
}

unsigned SubKernelEmitter::openShares(SmallVectorImpl<Code> &indices) {
  const Nest &nest = subKernel.nests.front();
  const NestSchedule &inner = schedule.nests.front();
  // The number of adjacent threads with different columns.
  const int64_t width = schedule.columns / inner.pack;
  const int64_t shares = schedule.team / width;
  const std::string share = "lane / " + std::to_string(width) + "u";
  if (inner.tile) {
    const unsigned row = inner.reductions.back();
    const int64_t chunks = nest.loops[subKernel.grid - 2].extent;
    // Threads begin in several tiles if these have fewer rows than threads.
    const std::string tile = std::to_string(inner.tile) + "u";
    indices[row] = text.numbered("r");
    lines.line(unrollPragma(inner));
    openLoop(indices[row], text.index(),
             inner.tile == shares ? share
                                  : share + " / " + tile + " * " +
                                        std::to_string(inner.tile * chunks) +
                                        "u + " + share + " % " + tile,
             std::to_string(nest.loops[row].extent * chunks), shares * chunks);
    return 1;
  }
  if (!inner.shared) {
    Code reduction = text.numbered("r");
    lines.line(unrollPragma(inner));
    openLoop(reduction, text.counter(), share, text.count(inner.iterations),
             shares);
    unravel(reduction, inner.reductions, nest, indices, "r");
    return 1;
  }
  for (unsigned loop : inner.reductions) {
    const bool isShared = loop == inner.shared;
    indices[loop] = text.numbered("r");
    if (loop == inner.reductions.back())
      lines.line(unrollPragma(inner));
    openLoop(indices[loop], text.index(), isShared ? share : "0",
             std::to_string(nest.loops[loop].extent), isShared ? shares : 1);
  }
  return inner.reductions.size();
}

SmallVector<Code> SubKernelEmitter::combineWarps(ArrayRef<Code> names) {
  const Nest &nest = subKernel.nests.front();
  const NestSchedule &inner = schedule.nests.front();
  const unsigned width = schedule.columns / inner.pack;
  const std::string widthText = std::to_string(width) + "u";
  SmallVector<Code> shared;
  for (const Output &output : nest.outputs)
    shared.push_back(
        text.share("partial", "partial", output.element, schedule.partials()));
  if (inner.pack == 1) {
    for (auto [array, name] : llvm::zip(shared, names))
      lines.line(Code::element(array, Code::word("lane")) + " = " + name + ";");
    return shared;
  }
  lines.line("#pragma unroll");
  lines.open("for (int k = 0; k < " + std::to_string(inner.pack) + "; ++k)");
  if (width < kWarp) {
    lines.line("#pragma unroll");
    lines.open("for (unsigned offset = " + widthText +
               "; offset < 32u; offset *= 2u)");
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      Code partial = text.numbered("v");
      lines.line("const " + text.scalars.type(output.element) + " " + partial +
                 " = " + Code::call("BREW_SHUFFLE_XOR", {names[r], "offset"}) +
                 ";");
      lines.line(names[r] + " = " +
                 combined(output, inner.combine[r], names[r], partial) + ";");
    }
    lines.close();
  }
  lines.open("if (lane % 32u < " + widthText + ")");
  for (auto [array, name] : llvm::zip(shared, names))
    lines.line(Code::element(array, "lane / 32u * " +
                                        std::to_string(schedule.columns) +
                                        "u + lane % " + widthText + " * " +
                                        std::to_string(inner.pack) + "u + k") +
               " = " + name + ";");
  lines.close();
  lines.close();
  return shared;
}

void SubKernelEmitter::emitColumns() {
  const Code begin = enterColumns();
  Nest &nest = subKernel.nests.front();
  const NestSchedule &inner = schedule.nests.front();
  const unsigned last = subKernel.grid - 1;
  const bool hasPacks = inner.pack > 1;
  const unsigned width = schedule.columns / inner.pack;
  const std::string columns = std::to_string(schedule.columns) + "u";
  Code isValid = "lane < " + columns;
  Code number = "lane % " + std::to_string(width) + "u";
  if (hasPacks)
    number += " * " + std::to_string(inner.pack) + "u";
  gridIndices[last] =
      columnOf(begin, number, inner.pack, hasPacks ? nullptr : &isValid);
  emitOriginComment(nest);
  SmallVector<Code> indices = startIndices(nest);
  SmallVector<Code> initial = initials(nest, indices), names;
  if (hasPacks) {
    names = declarePackedAccumulators(0);
    lines.line("#pragma unroll");
    lines.open("for (int k = 0; k < " + std::to_string(inner.pack) + "; ++k)");
    for (auto [r, output] : llvm::enumerate(nest.outputs))
      lines.line(names[r] + " = " +
                 neutralElement(output, inner.combine[r], initial[r]) + ";");
    lines.close();
    unsigned opened = openShares(indices);
    iteratePack(0, indices, names);
    closeLoops(opened);
  } else {
    SmallVector<Code> start;
    for (auto [r, output] : llvm::enumerate(nest.outputs))
      start.push_back(neutralElement(output, inner.combine[r], initial[r]));
    names = declareAccumulators(nest, start);
    unsigned opened = openShares(indices);
    assign(names, body.iterate(nest, indices, names));
    closeLoops(opened);
  }

  const SmallVector<Code> shared = combineWarps(names);
  lines.line("BREW_SYNC();");
  // From here on, each thread has one column.
  if (hasPacks)
    gridIndices[last] = columnOf(begin, Code::word("lane"), 1, &isValid);
  lines.open("if (" + isValid + ")");
  if (hasPacks) {
    SmallVector<Code> start;
    for (const Code &array : shared)
      start.push_back(Code::element(array, Code::word("lane")));
    names = declareAccumulators(nest, start);
  }
  lines.open("for (unsigned offset = " + columns + "; offset < " +
             std::to_string(schedule.partials()) + "u; offset += " + columns +
             ")");
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    Code partial = text.numbered("v");
    lines.line("const " + text.scalars.type(output.element) + " " + partial +
               " = " + Code::element(shared[r], "offset + lane") + ";");
    lines.line(names[r] + " = " +
               combined(output, inner.combine[r], names[r], partial) + ";");
  }
  lines.close();
  for (auto [r, output] : llvm::enumerate(nest.outputs))
    addInitial(output, inner.combine[r], initial[r], names[r]);
  store(0, startIndices(nest), names);
  recordAccesses(0);
  for (unsigned n = 1; n < subKernel.nests.size(); ++n)
    emitNest(n);
  copyOut();
  lines.close();
}

} // namespace brew::compiler::cuda
