//===- PackedAccesses.cpp - Accesses that move packs ----------------------===//
#include "compiler/cuda/PackedAccesses.h"

#include "compiler/cuda/KernelSchedule.h"
#include "compiler/kernels/KernelIndices.h"

using namespace mlir;

namespace brew::compiler::cuda {

using dialects::target::GpuAttr;

static constexpr unsigned kBitsOfByte = 8;

PackedAccesses::PackedAccesses(const Kernel &kernel,
                               ArrayRef<int64_t> alignments)
    : alignments(alignments) {
  for (RankedTensorType type : kernel.arguments) {
    elementSizes.push_back(elementBytes(type.getElementType()));
    areBits.push_back(type.getElementType().isInteger(1));
  }
}

bool PackedAccesses::covers(unsigned argument, const LinearExpr &address,
                            unsigned loop, unsigned pack) const {
  if (address.coefs[loop] != 1 || address.constant % pack)
    return false;
  for (auto [otherLoop, coef] : llvm::enumerate(address.coefs))
    if (otherLoop != loop && coef % pack)
      return false;
  // A buffer that is a subview may begin at any element.
  return alignments[argument] % std::min(pack * elementSizes[argument],
                                         GpuAttr::kMaxAccessBytes) ==
         0;
}

bool PackedAccesses::coversResult(unsigned argument, const LinearExpr &address,
                                  unsigned loop, unsigned pack) const {
  return covers(argument, address, loop, pack) &&
         (!areBits[argument] || pack == kBitsOfByte);
}

bool PackedAccesses::covers(const Nest &nest, Operation *op,
                            const Extract &extract, unsigned loop,
                            unsigned pack) const {
  if (extract.source.kind != Source::Kind::Argument ||
      extract.source.writtenThisStage ||
      !covers(extract.source.argument, extract.address, loop, pack))
    return false;
  auto indices = cast<tensor::ExtractOp>(op).getIndices();
  for (auto [stride, index] : llvm::zip(extract.strides, indices))
    if (stride != 0 && (stride % pack || indexStep(nest, index, loop) != 0))
      return false;
  return true;
}

bool PackedAccesses::covers(const Access &access, unsigned loop,
                            unsigned pack) const {
  return access.source.kind == Source::Kind::Argument &&
         !access.source.writtenThisStage &&
         covers(access.source.argument, access.address, loop, pack);
}

bool PackedAccesses::covers(const Access &access,
                            const NestSchedule &inner) const {
  return inner.pack > 1 && covers(access, inner.packed, inner.pack);
}

bool PackedAccesses::covers(const Nest &nest, Operation *op,
                            const Extract &extract,
                            const NestSchedule &inner) const {
  return inner.pack > 1 && covers(nest, op, extract, inner.packed, inner.pack);
}

bool PackedAccesses::coversResult(unsigned argument, const Output &output,
                                  const NestSchedule &inner) const {
  return inner.pack > 1 && inner.storesPacks && !output.overwritesLiveInput &&
         coversResult(argument, output.address, inner.packed, inner.pack);
}

bool PackedAccesses::coversStore(unsigned argument, const Output &store,
                                 const NestSchedule &inner) const {
  return inner.pack > 1 &&
         covers(argument, store.address, inner.packed, inner.pack);
}

} // namespace brew::compiler::cuda
