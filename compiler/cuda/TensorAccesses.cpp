//===- TensorAccesses.cpp - Access widths of a CUDA kernel ----------------===//
#include "compiler/cuda/TensorAccesses.h"

#include "compiler/cuda/PackedAccesses.h"
#include "compiler/kernels/KernelIndices.h"

using namespace mlir;

namespace brew::compiler::cuda {

namespace {

/// One access of a nest to an argument.
struct NestAccess {
  unsigned width;   ///< bytes per access
  int64_t elements; ///< upper bound
};

class AccessCounter {
public:
  AccessCounter(const Kernel &kernel, const KernelSchedule &schedule)
      : kernel(kernel), schedule(schedule), read(kernel.arguments.size()),
        written(kernel.arguments.size()), traffic(elementTraffic(kernel)) {}

  std::vector<TensorAccess> run() {
    for (auto [subKernel, chosen] :
         llvm::zip_equal(kernel.subKernels, schedule.subKernels))
      for (auto [nest, inner] : llvm::zip_equal(subKernel.nests, chosen.nests))
        recordNest(nest, inner);
    std::vector<TensorAccess> result;
    for (unsigned argument = 0; argument < read.size(); ++argument) {
      addEntry(result, argument, false, traffic.read[argument], read[argument]);
      addEntry(result, argument, true, traffic.written[argument],
               written[argument]);
    }
    return result;
  }

private:
  int64_t bytesOf(unsigned argument, int64_t elements) const {
    return elementBytes(kernel.arguments[argument].getElementType(), elements);
  }

  NestAccess makeAccess(unsigned argument, int64_t elements, bool isPack,
                        const NestSchedule &inner) const {
    const int64_t bytes = bytesOf(argument, isPack ? inner.pack : 1);
    return {static_cast<unsigned>(
                std::min(bytes, dialects::target::GpuAttr::kMaxAccessBytes)),
            std::min(elements, kernel.arguments[argument].getNumElements())};
  }

  void recordNest(const Nest &nest, const NestSchedule &inner) {
    const PackedAccesses &packs = schedule.packs;
    auto recordRead = [&](const Access &access, bool mayBePack) {
      const unsigned argument = access.source.argument;
      if (access.source.kind == Source::Kind::Argument)
        read[argument].push_back(
            makeAccess(argument, elementsAccessed(nest, access.address),
                       mayBePack && packs.covers(access, inner), inner));
    };
    for (const std::optional<Access> &input : nest.inputs)
      if (input)
        recordRead(*input, true);
    // Visits extracts in program order, so that results are reproducible.
    for (Operation &op : nest.body()->without_terminator()) {
      auto found = nest.extracts.find(&op);
      if (found == nest.extracts.end() ||
          found->second.source.kind != Source::Kind::Argument)
        continue;
      const Extract &extract = found->second;
      read[extract.source.argument].push_back(makeAccess(
          extract.source.argument, elementsAccessed(nest, &op, extract),
          packs.covers(nest, &op, extract, inner), inner));
    }
    for (const Output &output : nest.outputs) {
      if (output.initial)
        // The initial value of a sum is read separately.
        recordRead(*output.initial, nest.reductions() == 0);
      for (unsigned argument : output.arguments)
        written[argument].push_back(
            makeAccess(argument, elementsAccessed(nest, output.address),
                       packs.coversResult(argument, output, inner), inner));
    }
    for (const Output &store : nest.perIterationStores)
      for (unsigned argument : store.arguments)
        written[argument].push_back(
            makeAccess(argument, elementsAccessed(nest, store.address),
                       packs.coversStore(argument, store, inner), inner));
  }

  /// Divides `elements` of an argument among its accesses.
  void addEntry(std::vector<TensorAccess> &result, unsigned argument,
                bool writes, int64_t elements,
                ArrayRef<NestAccess> accesses) const {
    if (elements == 0)
      return;
    int64_t totalElements = 0;
    for (const NestAccess &access : accesses)
      totalElements += access.elements;
    TensorAccess &entry = result.emplace_back();
    entry.argument = argument;
    entry.writes = writes;
    const int64_t bytes = bytesOf(argument, elements);
    int64_t previousBytes = 0, elementsSoFar = 0;
    for (const NestAccess &access : accesses) {
      elementsSoFar += access.elements;
      const auto cumulativeBytes =
          elementsSoFar == totalElements
              ? bytes
              : static_cast<int64_t>(static_cast<double>(bytes) *
                                     static_cast<double>(elementsSoFar) /
                                     static_cast<double>(totalElements));
      entry.bytes[access.width] +=
          static_cast<uint64_t>(cumulativeBytes - previousBytes);
      previousBytes = cumulativeBytes;
    }
  }

  const Kernel &kernel;
  const KernelSchedule &schedule;
  std::vector<std::vector<NestAccess>> read, written; ///< of each argument
  const ElementTraffic traffic;
};

} // namespace

std::vector<TensorAccess> tensorAccesses(const Kernel &kernel,
                                         const KernelSchedule &schedule) {
  return AccessCounter(kernel, schedule).run();
}

} // namespace brew::compiler::cuda
