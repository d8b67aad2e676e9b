//===- CudaPartColumns.cpp - A block's neighbouring points ----------------===//
#include "compiler/cuda/CudaPart.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace brew::compiler {

/// Loads that each thread has on their way: elements of 16 bits are few bytes,
/// and only half of the threads that could be resident are there.
static constexpr const char *kUnroll = "#pragma unroll 8";

CudaCode PartEmitter::enterColumn() {
  const unsigned last = part.grid - 1;
  const int64_t extent = part.nests.front().loops[last].extent;
  const int64_t tiles = llvm::divideCeil(extent, schedule.columns);
  const std::string columns = std::to_string(schedule.columns) + "u";
  CudaCode block = CudaCode::word("blockIdx.x");
  if (schedule.firstBlock)
    block = CudaCode::group(block + " - " + text.count(schedule.firstBlock));
  if (part.isLast)
    block = tiles == 1 ? text.count(0) : block + " % " + text.count(tiles);
  lines.line("const unsigned lane = threadIdx.x;");
  lines.line("const " + text.counter() + " point = " + block + ";");
  SmallVector<unsigned> grid =
      llvm::to_vector(llvm::seq<unsigned>(0, part.grid));
  gridAt.resize(part.grid);
  unravel(CudaCode::word("point"), grid, part.nests.front(), gridAt, "i",
          tiles);
  CudaCode column = gridAt[last] + " + lane % " + columns;
  CudaCode goesOn = "lane < " + columns;
  if (extent % schedule.columns != 0) {
    // Threads without a point of their own compute along with the last one.
    CudaCode own = text.numbered("i");
    lines.line("const " + text.index() + " " + own + " = " + column + ";");
    column = own + " < " + std::to_string(extent) + " ? " + own + " : " +
             std::to_string(extent - 1);
    goesOn += " && " + own + " < " + std::to_string(extent);
  }
  CudaCode index = text.numbered("i");
  lines.line("const " + text.index() + " " + index + " = " + column + ";");
  gridAt[last] = index;
  return goesOn;
}

unsigned PartEmitter::openShares(SmallVectorImpl<CudaCode> &at) {
  const Nest &nest = part.nests.front();
  const NestSchedule &inner = schedule.nests.front();
  const int64_t shares = schedule.team / schedule.columns;
  const std::string share = "lane / " + std::to_string(schedule.columns) + "u";
  if (!inner.shared) {
    CudaCode reduction = text.numbered("r");
    lines.line(kUnroll);
    openLoop(reduction, text.counter(), share, text.count(inner.iterations),
             shares);
    unravel(reduction, inner.reductions, nest, at, "r");
    return 1;
  }
  for (unsigned loop : inner.reductions) {
    const bool isShared = loop == inner.shared;
    at[loop] = text.numbered("r");
    if (loop == inner.reductions.back())
      lines.line(kUnroll);
    openLoop(at[loop], text.index(), isShared ? share : "0",
             std::to_string(nest.loops[loop].extent), isShared ? shares : 1);
  }
  return inner.reductions.size();
}

void PartEmitter::emitColumns() {
  CudaCode goesOn = enterColumn();
  Nest &nest = part.nests.front();
  const NestSchedule &inner = schedule.nests.front();
  commentOn(nest);
  SmallVector<CudaCode> at = startOf(nest);
  SmallVector<CudaCode> initial = initials(nest, at), start;
  for (auto [r, output] : llvm::enumerate(nest.outputs))
    start.push_back(neutral(output, inner.combine[r], initial[r]));
  SmallVector<CudaCode> names = declareAccumulators(nest, start);
  unsigned opened = openShares(at);
  assign(names, body.iterate(nest, at, names));
  closeLoops(opened);

  SmallVector<CudaCode> shared;
  for (auto [output, name] : llvm::zip(nest.outputs, names)) {
    shared.push_back(text.unique("partial", "partial"));
    text.shared.push_back("BREW_SHARED(" + text.scalars.type(output.element) +
                          ", " + shared.back() + ", " +
                          std::to_string(schedule.team) + ");");
    lines.line(CudaCode::element(shared.back(), CudaCode::word("lane")) +
               " = " + name + ";");
  }
  lines.line("BREW_SYNC();");
  lines.open("if (" + goesOn + ")");
  const std::string columns = std::to_string(schedule.columns) + "u";
  lines.open("for (unsigned offset = " + columns + "; offset < " +
             std::to_string(schedule.team) + "u; offset += " + columns + ")");
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    CudaCode other = text.numbered("v");
    lines.line("const " + text.scalars.type(output.element) + " " + other +
               " = " + CudaCode::element(shared[r], "offset + lane") + ";");
    lines.line(names[r] + " = " +
               combined(output, inner.combine[r], names[r], other) + ";");
  }
  lines.close();
  for (auto [r, output] : llvm::enumerate(nest.outputs))
    addInitial(output, inner.combine[r], initial[r], names[r]);
  store(0, startOf(nest), names);
  noteAccesses(0);
  for (unsigned n = 1; n < part.nests.size(); ++n)
    emitNest(n);
  copyOut();
  lines.close();
}

} // namespace brew::compiler
