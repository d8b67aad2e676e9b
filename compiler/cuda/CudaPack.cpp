//===- CudaPack.cpp - Where neighbouring points share an access -----------===//
#include "compiler/cuda/CudaSchedule.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace brew::compiler {

namespace {

using targetir::GpuAttr;

/// An argument that a nest reads or writes element by element.
struct PackedAccess {
  unsigned argument;
  const Linear *address;
};

/// The accesses that move along the last loop of the grid, `last`; what stands
/// still is read as one element.
SmallVector<PackedAccess> accessesAlong(const Nest &nest, unsigned last) {
  SmallVector<PackedAccess> accesses;
  for (const std::optional<Access> &input : nest.inputs)
    if (input && input->source.kind == Source::Kind::Argument &&
        input->address.coefs[last])
      accesses.push_back({input->source.argument, &input->address});
  for (const Output &output : nest.outputs)
    for (unsigned argument : output.arguments)
      accesses.push_back({argument, &output.address});
  return accesses;
}

/// Whether `address`, counted from the start of the buffer, is a multiple of
/// `pack` wherever a pack along `last` begins.
bool beginsPacks(const Linear &address, unsigned last, unsigned pack) {
  if (address.coefs[last] != 1 || address.constant % pack)
    return false;
  for (auto [loop, coef] : llvm::enumerate(address.coefs))
    if (loop != last && coef % pack)
      return false;
  return true;
}

} // namespace

unsigned packOf(const Kernel &kernel, ArrayRef<int64_t> alignments,
                const Part &part, const PartSchedule &chosen, GpuAttr gpu) {
  // Packs leave two warps to each multiprocessor.
  const auto leastPoints = static_cast<int64_t>(
      llvm::bit_floor<uint64_t>(gpu.getMultiprocessors() * 2 * kWarp * 4));
  if (part.grid == 0 || chosen.points < leastPoints)
    return 1;
  const unsigned last = part.grid - 1;
  auto bytesOfElement = [&](unsigned argument) {
    return elementBytes(kernel.arguments[argument].getElementType());
  };
  SmallVector<PackedAccess> accesses;
  for (const Nest &nest : part.nests) {
    if (nest.loops.size() != part.grid ||
        llvm::any_of(nest.outputs, [](const Output &output) {
          return output.overwritesRead;
        }))
      return 1;
    llvm::append_range(accesses, accessesAlong(nest, last));
  }
  int64_t widest = 1;
  for (const PackedAccess &access : accesses)
    widest = std::max(widest, bytesOfElement(access.argument));
  const auto pack = static_cast<unsigned>(GpuAttr::kAccessBytes / widest);
  if (pack == 1 || part.nests[0].loops[last].extent % pack)
    return 1;
  // A buffer may itself begin at any element of the whole it is part of.
  const bool aligned = llvm::all_of(accesses, [&](const PackedAccess &access) {
    return beginsPacks(*access.address, last, pack) &&
           alignments[access.argument] %
                   (pack * bytesOfElement(access.argument)) ==
               0;
  });
  return aligned ? pack : 1;
}

} // namespace brew::compiler
