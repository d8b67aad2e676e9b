//===- PackSize.cpp - Pack sizes ------------------------------------------===//
#include "compiler/cuda/KernelSchedule.h"

#include "compiler/kernels/KernelIndices.h"

#include "llvm/ADT/bit.h"

#include <map>

using namespace mlir;

namespace brew::compiler::cuda {

namespace {

using dialects::target::GpuAttr;

/// Registers per thread for packs, of 255 at most.
constexpr int64_t kPackRegisters = 96;
/// Most neighbours per thread. 16 one-byte elements would fit an access, but
/// their other operands have four bytes each.
constexpr unsigned kMaxNeighbours = 8;
/// An element size determines the pack size if its bytes are at least this
/// fraction (1/N) of all; this excludes, for example, a scale per channel.
constexpr int64_t kMinByteShare = 8;
/// Largest ratio of packed to single accesses that justifies packs, since fewer
/// threads remain to hide memory latency.
constexpr double kWorthwhile = 0.7;

/// Chooses the number of neighbouring iterations per thread.
class PackChooser {
public:
  PackChooser(const Kernel &kernel, const PackedAccesses &packs, unsigned loop)
      : kernel(kernel), packs(packs), loop(loop) {}

  void add(const Nest &nest, bool storesPacks) {
    auto addPlace = [&](unsigned argument,
                        const LinearExpr &address) -> Moved & {
      Moved &moved = places[{argument, key(address)}];
      moved.argument = argument;
      moved.bytes = std::max(
          moved.bytes, bytesOf(argument, elementsAccessed(nest, address)));
      return moved;
    };
    auto read = [&](const Access &access) {
      if (access.source.kind == Source::Kind::Argument &&
          access.address.coefs[loop])
        addPlace(access.source.argument, access.address).widest = widest(
            [&](unsigned pack) { return packs.covers(access, loop, pack); });
    };
    for (const std::optional<Access> &input : nest.inputs)
      if (input)
        read(*input);
    // In program order, so that floating-point sums are reproducible.
    for (Operation &each : nest.body()->without_terminator()) {
      Operation *op = &each;
      auto found = nest.extracts.find(op);
      if (found == nest.extracts.end() ||
          found->second.source.kind != Source::Kind::Argument ||
          extractStep(nest, op, found->second, loop) == 0)
        continue;
      const Extract &extract = found->second;
      Moved &moved = gathers.emplace_back();
      moved.argument = extract.source.argument;
      moved.bytes =
          bytesOf(moved.argument, elementsAccessed(nest, op, extract));
      moved.widest = widest([&](unsigned pack) {
        return packs.covers(nest, op, extract, loop, pack);
      });
    }
    for (const Output &output : nest.outputs) {
      if (output.initial)
        read(*output.initial);
      if (nest.reductions())
        accumulators += std::max<int64_t>(elementBytes(output.element), 4);
      for (unsigned argument : output.arguments) {
        if (!storesPacks || output.overwritesLiveInput)
          continue;
        Moved &moved = addPlace(argument, output.address);
        moved.widest = widest([&](unsigned pack) {
          return packs.coversResult(argument, output.address, loop, pack);
        });
        leastStore = std::min(leastStore, moved.widest);
        hasBits |= isBits(argument);
      }
    }
    for (const Output &store : nest.perIterationStores)
      for (unsigned argument : store.arguments)
        addPlace(argument, store.address).widest = widest([&](unsigned pack) {
          return packs.covers(argument, store.address, loop, pack);
        });
  }

  /// Returns the pack size with the fewest accesses that satisfies `suits`, at
  /// most 16 bytes of the smallest elements that count; 1 if packs save too
  /// little.
  template <typename Function> unsigned best(const Function &suits) const {
    unsigned best = 1;
    // Each byte of bits belongs to one thread; threads that share a byte would
    // need atomics.
    if (hasBits)
      return leastStore == kMaxNeighbours && suits(kMaxNeighbours)
                 ? kMaxNeighbours
                 : 1;
    double least = kWorthwhile * accesses(1);
    for (unsigned pack = wanted(); pack > 1; pack /= 2)
      if (pack <= leastStore && suits(pack) && accesses(pack) < least &&
          registers(pack) <= kPackRegisters) {
        best = pack;
        least = accesses(pack);
      }
    return best;
  }

  bool storesBits() const { return hasBits; }

private:
  /// Accesses of one kind.
  struct Moved {
    unsigned argument = 0;
    int64_t bytes = 0;
    unsigned widest = 1; ///< pack
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
  /// Returns the bytes of at most `most` elements of an argument.
  int64_t bytesOf(unsigned argument, int64_t most) const {
    return elementBytes(
        kernel.arguments[argument].getElementType(),
        std::min(most, kernel.arguments[argument].getNumElements()));
  }

  template <typename Function> static unsigned widest(const Function &covers) {
    unsigned pack = kMaxNeighbours;
    while (pack > 1 && !covers(pack))
      pack /= 2;
    return pack;
  }

  template <typename Function> void forEach(const Function &function) const {
    for (const auto &[place, moved] : places)
      function(moved);
    for (const Moved &moved : gathers)
      function(moved);
  }

  unsigned wanted() const {
    std::map<int64_t, int64_t> bySize;
    forEach([&](const Moved &moved) {
      if (moved.widest > 1 && !isBits(moved.argument))
        bySize[bytesOfElement(moved.argument)] += moved.bytes;
    });
    int64_t all = 0;
    for (auto [bytes, moved] : bySize)
      all += moved;
    // Smallest first; larger elements take several accesses per pack.
    for (auto [bytes, moved] : bySize)
      if (moved * kMinByteShare >= all)
        return std::min(static_cast<unsigned>(GpuAttr::kMaxAccessBytes / bytes),
                        kMaxNeighbours);
    return 1;
  }

  /// Returns the accesses of all threads.
  double accesses(unsigned pack) const {
    double count = 0;
    forEach([&](const Moved &moved) {
      const int64_t width =
          elementBytes(kernel.arguments[moved.argument].getElementType(),
                       moved.widest >= pack ? pack : 1);
      count += static_cast<double>(moved.bytes) /
               static_cast<double>(std::min(width, GpuAttr::kMaxAccessBytes));
    });
    return count;
  }

  int64_t registers(unsigned pack) const {
    int64_t bytes = accumulators * pack;
    forEach([&](const Moved &moved) {
      bytes += moved.widest >= pack
                   ? std::max<int64_t>(pack * bytesOfElement(moved.argument), 4)
                   : 0;
    });
    return bytes / 4;
  }

  const Kernel &kernel;
  const PackedAccesses &packs;
  const unsigned loop;
  std::map<std::pair<unsigned, std::vector<int64_t>>, Moved> places;
  std::vector<Moved> gathers;
  int64_t accumulators = 0; ///< bytes per neighbour
  unsigned leastStore = kMaxNeighbours;
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
    chooser.add(nest, /*storesPacks=*/true);
  }
  // At least one or two warps per multiprocessor must remain.
  const auto leastPoints = static_cast<int64_t>(
      llvm::bit_floor<uint64_t>(gpu.getMultiprocessors() * 2 * kWarp * 4));
  if (chosen.points < leastPoints && !chooser.storesBits())
    return 1;
  return chooser.best([&](unsigned pack) {
    return subKernel.nests[0].loops[last].extent % pack == 0;
  });
}

unsigned columnPackSize(const Kernel &kernel, const PackedAccesses &packs,
                        const SubKernel &subKernel,
                        const SubKernelSchedule &chosen) {
  const unsigned last = subKernel.grid - 1;
  const Nest &sums = subKernel.nests.front();
  // Other threads than those with packs add the sums' initial values.
  if (llvm::any_of(sums.outputs, [](const Output &output) {
        return !output.initial ||
               output.initial->source.kind != Source::Kind::Constant;
      }))
    return 1;
  PackChooser chooser(kernel, packs, last);
  chooser.add(sums, /*storesPacks=*/false);
  const int64_t iterations = chosen.nests.front().iterations;
  return chooser.best([&](unsigned pack) {
    return sums.loops[last].extent % pack == 0 && chosen.columns % pack == 0 &&
           chosen.columns / pack <= kWarp &&
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
  chooser.add(nest, /*storesPacks=*/lanes == 1);
  const int64_t all = lanes > 1 ? inner.iterations : inner.values;
  const int64_t sharing = lanes > 1 ? lanes : team;
  return chooser.best([&](unsigned pack) {
    // At most a third of the lanes may become idle.
    return nest.loops[loop].extent % pack == 0 &&
           static_cast<int64_t>(llvm::divideCeil(all, sharing * pack)) *
                   sharing * pack * 2 <=
               static_cast<int64_t>(llvm::divideCeil(all, sharing)) * sharing *
                   3;
  });
}

} // namespace brew::compiler::cuda
