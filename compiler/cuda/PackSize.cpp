//===- PackSize.cpp - Pack sizes ------------------------------------------===//
#include "compiler/cuda/KernelSchedule.h"

#include "compiler/kernels/KernelIndices.h"

#include "llvm/ADT/bit.h"

#include <map>

using namespace mlir;

namespace brew::compiler::cuda {

namespace {

using dialects::target::GpuAttr;

/// Maximum number of registers per thread for packs, of the 255 registers that
/// a thread can have.
constexpr int64_t kMaxPackRegisters = 96;
/// Maximum number of neighbours per thread. 16 one-byte elements would fit an
/// access, but their other operands have four bytes each.
constexpr unsigned kMaxNeighbours = 8;
/// An element size determines the pack size if its bytes are at least this
/// fraction (1/N) of all; this excludes, for example, a scale per channel.
constexpr int64_t kMinByteShare = 8;
/// Maximum ratio of packed to single accesses that justifies packs, since fewer
/// threads remain to hide memory latency.
constexpr double kMaxAccessRatio = 0.7;

/// Chooses the number of neighbouring iterations per thread.
class PackChooser {
public:
  PackChooser(const Kernel &kernel, const PackedAccesses &packs, unsigned loop)
      : kernel(kernel), packs(packs), loop(loop) {}

  /// Adds the accesses of a nest. `storesPacks` means that its results are
  /// packed, too.
  void addNest(const Nest &nest, bool storesPacks) {
    auto addAccess = [&](unsigned argument,
                         const LinearExpr &address) -> AccessGroup & {
      AccessGroup &group = accessesByAddress[{argument, key(address)}];
      group.argument = argument;
      group.bytes = std::max(
          group.bytes, bytesOf(argument, elementsAccessed(nest, address)));
      return group;
    };
    auto addRead = [&](const Access &access) {
      if (access.source.kind == Source::Kind::Argument &&
          access.address.coefs[loop])
        addAccess(access.source.argument, access.address).widest = widestPack(
            [&](unsigned pack) { return packs.covers(access, loop, pack); });
    };
    for (const std::optional<Access> &input : nest.inputs)
      if (input)
        addRead(*input);
    // Visits extracts in program order, so that floating-point sums are
    // reproducible.
    for (Operation &bodyOp : nest.body()->without_terminator()) {
      Operation *op = &bodyOp;
      auto found = nest.extracts.find(op);
      if (found == nest.extracts.end() ||
          found->second.source.kind != Source::Kind::Argument ||
          extractStep(nest, op, found->second, loop) == 0)
        continue;
      const Extract &extract = found->second;
      AccessGroup &group = gathers.emplace_back();
      group.argument = extract.source.argument;
      group.bytes =
          bytesOf(group.argument, elementsAccessed(nest, op, extract));
      group.widest = widestPack([&](unsigned pack) {
        return packs.covers(nest, op, extract, loop, pack);
      });
    }
    for (const Output &output : nest.outputs) {
      if (output.initial)
        addRead(*output.initial);
      if (nest.reductions())
        accumulators += std::max<int64_t>(elementBytes(output.element), 4);
      for (unsigned argument : output.arguments) {
        if (!storesPacks || output.overwritesLiveInput)
          continue;
        AccessGroup &group = addAccess(argument, output.address);
        group.widest = widestPack([&](unsigned pack) {
          return packs.coversResult(argument, output.address, loop, pack);
        });
        minStorePack = std::min(minStorePack, group.widest);
        hasBits |= isBits(argument);
      }
    }
    for (const Output &store : nest.perIterationStores)
      for (unsigned argument : store.arguments)
        addAccess(argument, store.address).widest =
            widestPack([&](unsigned pack) {
              return packs.covers(argument, store.address, loop, pack);
            });
  }

  /// Returns the pack size with the fewest accesses that satisfies `isAllowed`,
  /// or 1 if packs save too little. A pack has at most 16 bytes of the smallest
  /// elements that matter (see kMinByteShare).
  template <typename Function>
  unsigned choose(const Function &isAllowed) const {
    unsigned best = 1;
    // Each byte of bits belongs to one thread; threads that share a byte would
    // need atomics.
    if (hasBits)
      return minStorePack == kMaxNeighbours && isAllowed(kMaxNeighbours)
                 ? kMaxNeighbours
                 : 1;
    double minAccesses = kMaxAccessRatio * accessCount(1);
    for (unsigned pack = targetPack(); pack > 1; pack /= 2)
      if (pack <= minStorePack && isAllowed(pack) &&
          accessCount(pack) < minAccesses &&
          registerCount(pack) <= kMaxPackRegisters) {
        best = pack;
        minAccesses = accessCount(pack);
      }
    return best;
  }

  bool storesBits() const { return hasBits; }

private:
  /// Accesses that move along the loop: either all accesses of an argument at
  /// one address, or one extract.
  struct AccessGroup {
    unsigned argument = 0;
    int64_t bytes = 0;
    unsigned widest = 1; ///< the widest possible pack
  };

  static std::vector<int64_t> key(const LinearExpr &address) {
    std::vector<int64_t> result(address.coefs.begin(), address.coefs.end());
    result.push_back(address.constant);
    return result;
  }

  int64_t bytesOfElement(unsigned argument) const {
    return elementBytes(kernel.arguments[argument].getElementType());
  }
  bool isBits(unsigned argument) const {
    return kernel.arguments[argument].getElementType().isInteger(1);
  }
  /// Returns the bytes of at most `maxElements` elements of an argument.
  int64_t bytesOf(unsigned argument, int64_t maxElements) const {
    return elementBytes(
        kernel.arguments[argument].getElementType(),
        std::min(maxElements, kernel.arguments[argument].getNumElements()));
  }

  template <typename Function>
  static unsigned widestPack(const Function &covers) {
    unsigned pack = kMaxNeighbours;
    while (pack > 1 && !covers(pack))
      pack /= 2;
    return pack;
  }

  template <typename Function> void forEach(const Function &function) const {
    for (const auto &[key, group] : accessesByAddress)
      function(group);
    for (const AccessGroup &group : gathers)
      function(group);
  }

  /// Returns the largest pack size to consider.
  unsigned targetPack() const {
    std::map<int64_t, int64_t> bytesBySize;
    forEach([&](const AccessGroup &group) {
      if (group.widest > 1 && !isBits(group.argument))
        bytesBySize[bytesOfElement(group.argument)] += group.bytes;
    });
    int64_t totalBytes = 0;
    for (auto [elementSize, bytes] : bytesBySize)
      totalBytes += bytes;
    // Visits the smallest elements first. Larger elements need several accesses
    // per pack.
    for (auto [elementSize, bytes] : bytesBySize)
      if (bytes * kMinByteShare >= totalBytes)
        return std::min(
            static_cast<unsigned>(GpuAttr::kMaxAccessBytes / elementSize),
            kMaxNeighbours);
    return 1;
  }

  /// Returns the number of accesses of all threads.
  double accessCount(unsigned pack) const {
    double count = 0;
    forEach([&](const AccessGroup &group) {
      const int64_t width =
          elementBytes(kernel.arguments[group.argument].getElementType(),
                       group.widest >= pack ? pack : 1);
      count += static_cast<double>(group.bytes) /
               static_cast<double>(std::min(width, GpuAttr::kMaxAccessBytes));
    });
    return count;
  }

  int64_t registerCount(unsigned pack) const {
    int64_t bytes = accumulators * pack;
    forEach([&](const AccessGroup &group) {
      bytes += group.widest >= pack
                   ? std::max<int64_t>(pack * bytesOfElement(group.argument), 4)
                   : 0;
    });
    return bytes / 4;
  }

  const Kernel &kernel;
  const PackedAccesses &packs;
  const unsigned loop;
  std::map<std::pair<unsigned, std::vector<int64_t>>, AccessGroup>
      accessesByAddress;
  std::vector<AccessGroup> gathers;
  int64_t accumulators = 0; ///< bytes per neighbour
  unsigned minStorePack = kMaxNeighbours;
  bool hasBits = false; ///< stores bits
};

} // namespace

unsigned pointPackSize(const Kernel &kernel, const PackedAccesses &packs,
                       const SubKernel &subKernel,
                       const SubKernelSchedule &chosen, GpuAttr gpu) {
  if (subKernel.grid == 0)
    return 1;
  const unsigned last = subKernel.grid - 1;
  PackChooser chooser(kernel, packs, last);
  for (auto [nest, inner] : llvm::zip(subKernel.nests, chosen.nests)) {
    if (inner.values != 1 ||
        llvm::any_of(nest.outputs, [](const Output &output) {
          return output.overwritesLiveInput;
        }))
      return 1;
    chooser.addNest(nest, /*storesPacks=*/true);
  }
  // With packs of four, at least one warp per multiprocessor must remain.
  const auto minPoints = static_cast<int64_t>(
      llvm::bit_floor<uint64_t>(gpu.getMultiprocessors() * 2 * kWarp * 4));
  if (chosen.points < minPoints && !chooser.storesBits())
    return 1;
  return chooser.choose([&](unsigned pack) {
    return subKernel.nests[0].loops[last].extent % pack == 0;
  });
}

unsigned columnPackSize(const Kernel &kernel, const PackedAccesses &packs,
                        const SubKernel &subKernel,
                        const SubKernelSchedule &chosen) {
  const unsigned last = subKernel.grid - 1;
  const Nest &reduction = subKernel.nests.front();
  // Threads other than those with packs add the initial values.
  if (llvm::any_of(reduction.outputs, [](const Output &output) {
        return !output.initial ||
               output.initial->source.kind != Source::Kind::Constant;
      }))
    return 1;
  PackChooser chooser(kernel, packs, last);
  chooser.addNest(reduction, /*storesPacks=*/false);
  const int64_t iterations = chosen.nests.front().iterations;
  return chooser.choose([&](unsigned pack) {
    return reduction.loops[last].extent % pack == 0 &&
           chosen.columns % pack == 0 && chosen.columns / pack <= kWarp &&
           // At least half of the threads must have iterations.
           2 * iterations * chosen.columns >=
               static_cast<int64_t>(chosen.team) * pack;
  });
}

unsigned lanePackSize(const Kernel &kernel, const PackedAccesses &packs,
                      const Nest &nest, const NestSchedule &inner,
                      unsigned team, unsigned lanes) {
  const SmallVector<unsigned> &loops =
      lanes > 1 ? inner.reductions : inner.parallel;
  if (loops.empty())
    return 1;
  const unsigned loop = loops.back();
  PackChooser chooser(kernel, packs, loop);
  chooser.addNest(nest, /*storesPacks=*/lanes == 1);
  const int64_t total = lanes > 1 ? inner.iterations : inner.values;
  const int64_t sharingLanes = lanes > 1 ? lanes : team;
  return chooser.choose([&](unsigned pack) {
    // At most a third of the lanes may become idle.
    return nest.loops[loop].extent % pack == 0 &&
           static_cast<int64_t>(llvm::divideCeil(total, sharingLanes * pack)) *
                   sharingLanes * pack * 2 <=
               static_cast<int64_t>(llvm::divideCeil(total, sharingLanes)) *
                   sharingLanes * 3;
  });
}

} // namespace brew::compiler::cuda
