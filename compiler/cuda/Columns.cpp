//===- Columns.cpp - Schedules in columns ---------------------------------===//
#include "compiler/cuda/Columns.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace brew::compiler::cuda {

using dialects::target::GpuAttr;

/// Minimal rows of a tile of interleaved chunks: as many as a warp reads.
static constexpr int64_t kMinTile = 8;
/// Maximum ratio of allotted to actual iterations.
static constexpr double kMaxWaste = 1.1;

unsigned columnsOf(const SubKernel &subKernel, const SubKernelSchedule &base) {
  if (subKernel.grid == 0)
    return 1;
  for (auto [number, inner] : llvm::enumerate(base.nests))
    if (inner.values != 1 || (inner.iterations > 1) != (number == 0))
      return 1;
  const NestSchedule &reduction = base.nests.front();
  if (llvm::is_contained(reduction.combine, Combine::None))
    return 1;
  const int64_t extent = subKernel.nests[0].loops[subKernel.grid - 1].extent;
  int64_t columns = GpuAttr::columnsPerBlock(extent);
  // Threads without a point of their own would repeat other threads' stores.
  if (!subKernel.nests.front().perIterationStores.empty())
    while (extent % columns != 0)
      columns /= 2;
  return static_cast<unsigned>(columns);
}

std::optional<unsigned> loopToShare(const Nest &nest, const NestSchedule &inner,
                                    int64_t shares) {
  // Starts with the innermost loop: then threads of few columns also read
  // adjacent elements.
  for (unsigned loop : llvm::reverse(inner.reductions)) {
    const int64_t extent = nest.loops[loop].extent;
    const int64_t maxShare = llvm::divideCeil(extent, shares);
    if (static_cast<double>(maxShare * shares) <=
        kMaxWaste * static_cast<double>(extent))
      return loop;
  }
  return std::nullopt;
}

/// Returns whether the iterations of grid loop `chunk` access adjacent ranges
/// of rows in every tensor. The only reduction loop enumerates the rows of a
/// range. The body must not use the indices of either loop.
static bool haveAdjacentRows(Nest &nest, unsigned chunk) {
  const unsigned row = nest.loops.size() - 1;
  const auto isAdjacent = [&](const LinearExpr &address) {
    return address.coefs[chunk] == address.coefs[row] * nest.loops[row].extent;
  };
  return llvm::all_of(nest.inputs,
                      [&](const std::optional<Access> &input) {
                        return !input || isAdjacent(input->address);
                      }) &&
         llvm::all_of(
             nest.perIterationStores,
             [&](const Output &store) { return isAdjacent(store.address); }) &&
         llvm::all_of(nest.extracts,
                      [&](const auto &entry) {
                        return isAdjacent(entry.second.address);
                      }) &&
         llvm::all_of(nest.indices, [&](const auto &index) {
           return !index || (!index->coefs[chunk] && !index->coefs[row]);
         });
}

int64_t interleaveChunks(SubKernel &subKernel, int64_t shares) {
  Nest &nest = subKernel.nests.front();
  const unsigned row = subKernel.grid, chunk = row - 2;
  if (row < 2 || subKernel.nests.size() > 1 || nest.loops.size() != row + 1 ||
      !haveAdjacentRows(nest, chunk))
    return 0;
  const int64_t rows = nest.loops[row].extent, tile = std::gcd(rows, shares);
  if (tile < kMinTile || tile == rows)
    return 0;
  nest.forEachLinear([&](LinearExpr &linear) {
    if (linear.coefs[row] != 0)
      linear.coefs[chunk] = linear.coefs[row] * tile;
  });
  return tile;
}

/// Returns whether every iteration of `loop` accesses its own column only.
/// `loop` enumerates `extent` columns that are `step` elements apart.
static bool staysInColumn(const LinearExpr &address, unsigned loop,
                          int64_t extent, int64_t step) {
  if (address.constant != 0 || address.coefs[loop] != step)
    return false;
  for (auto [otherLoop, coef] : llvm::enumerate(address.coefs))
    if (otherLoop != loop && coef % (step * extent) != 0)
      return false;
  return true;
}

bool readsOwnTile(const SubKernel &first, const SubKernelSchedule &chosen,
                  const SubKernel &last) {
  if (chosen.columns == 1 || last.grid != 1)
    return false;
  const unsigned loop = first.grid - 1;
  const int64_t extent = first.nests[0].loops[loop].extent;
  if (last.nests[0].loops[0].extent != extent)
    return false;
  // Distance of columns in elements, for each argument that `first` writes.
  llvm::SmallDenseMap<unsigned, int64_t> steps;
  for (const Nest &nest : first.nests)
    for (const Output &output : nest.outputs)
      for (unsigned argument : output.arguments) {
        const int64_t step = output.address.coefs[loop];
        if (step <= 0 || !staysInColumn(output.address, loop, extent, step))
          return false;
        steps[argument] = step;
      }
  auto isOwn = [&](const Source &source, const LinearExpr &address) {
    if (source.kind != Source::Kind::Argument)
      return true;
    auto found = steps.find(source.argument);
    return found == steps.end() ||
           staysInColumn(address, 0, extent, found->second);
  };
  for (const Nest &nest : last.nests) {
    for (const std::optional<Access> &input : nest.inputs)
      if (input && !isOwn(input->source, input->address))
        return false;
    for (const Output &output : nest.outputs)
      if (output.initial &&
          !isOwn(output.initial->source, output.initial->address))
        return false;
    for (const auto &entry : nest.extracts)
      if (entry.second.source.kind == Source::Kind::Argument &&
          steps.count(entry.second.source.argument))
        return false;
  }
  return true;
}

} // namespace brew::compiler::cuda
