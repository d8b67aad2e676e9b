//===- Machines.cpp - Descriptions of machines ----------------------------===//
//
// The figures for processors follow from the instruction set. The figures for
// GPUs describe a typical board of each architecture. They rank
// alternatives, and therefore also suit boards with somewhat more or fewer
// multiprocessors.
//
//===----------------------------------------------------------------------===//
#include "dialects/Target/TargetDialect.h"

#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace brew::dialects::target;

/// Sustained clock of a typical server processor while all of its cores compute
/// with wide vectors.
static constexpr int64_t kCpuMhz = 2500;

/// Gradients of this many elements are read from memory instead of a cache.
static constexpr int64_t kSlowBiasElements = 1 << 20;

CpuAttr brew::dialects::target::describeCpu(MLIRContext *context,
                                            int64_t vectorBits, bool bf16) {
  // Cores without AVX-512 may have a quarter of the cache of cores with it.
  const int64_t l2Bytes = vectorBits >= 512 ? 1 << 20 : 1 << 18;
  // The library is oneDNN.
  auto library = LibraryAttr::get(
      context, /*channels_last=*/true, /*fused_leaky_relu=*/true, bf16,
      /*f16=*/false, /*tf32=*/false, /*f32_weight_gradients=*/true,
      kSlowBiasElements);
  return CpuAttr::get(context, vectorBits, l2Bytes, /*cores=*/4, library,
                      kCpuMhz);
}

unsigned brew::dialects::target::archNumber(StringRef arch) {
  unsigned number = 0;
  if (!arch.consume_front("sm_") || arch.consumeInteger(10, number) ||
      number < 10 || number > 999 || (arch != "" && arch != "a" && arch != "f"))
    return 0;
  return number;
}

namespace {

/// A typical board of an architecture. `mhz` is the boost clock of the vendor's
/// data sheet; `memoryBytes` per cycle of that clock are its bandwidth.
/// `doubles` are a multiprocessor's results per cycle in f64, from the table of
/// arithmetic throughput in the CUDA C++ programming guide. `products` are its
/// multiply-adds per cycle of dense 16-bit matrices, accumulated in f32: the
/// data sheet's tensor performance divided by clock and multiprocessors.
struct Board {
  unsigned arch;
  int64_t multiprocessors, threads, cacheBytes, memoryBytes, operations, mhz,
      doubles, products;
};

// Sorted by architecture.
constexpr Board kBoards[] = {
    {60, 56, 2048, 88 << 10, 550, 3584, 1328, 32, 0},       // P100
    {61, 30, 2048, 144 << 10, 226, 3840, 1531, 4, 0},       // P40
    {70, 80, 2048, 128 << 10, 588, 5120, 1530, 32, 512},    // V100
    {72, 8, 2048, 128 << 10, 99, 512, 1377, 32, 512},       // Jetson AGX Xavier
    {75, 40, 1024, 96 << 10, 200, 2560, 1590, 2, 512},      // T4
    {80, 108, 2048, 192 << 10, 1440, 6912, 1410, 32, 1024}, // A100
    {86, 72, 1536, 128 << 10, 354, 9216, 1695, 2, 512},     // A10
    {87, 16, 1536, 192 << 10, 158, 2048, 1300, 2, 1024},    // Jetson AGX Orin
    {89, 142, 1536, 128 << 10, 343, 18176, 2520, 2, 512},   // L40S
    {90, 132, 2048, 256 << 10, 1920, 16000, 1755, 64, 2048},  // H100
    {100, 148, 2048, 256 << 10, 4324, 18944, 1850, 64, 4096}, // B200
    {110, 20, 1536, 256 << 10, 174, 2560, 1575, 2, 4096},     // Jetson AGX Thor
    {120, 170, 1536, 128 << 10, 744, 21760, 2407, 2, 256}, // GeForce RTX 5090
    {121, 48, 1536, 128 << 10, 114, 6144, 2400, 2, 512},   // GB10
};
/// The reference architecture, which is also the one of the simulator.
constexpr unsigned kReferenceArch = 90;

} // namespace

static unsigned archNumberOrReference(StringRef arch) {
  return arch == "sim" ? kReferenceArch : archNumber(arch);
}

GpuAttr brew::dialects::target::describeGpu(MLIRContext *context,
                                            ArrayRef<StringRef> archs) {
  const unsigned number = archNumberOrReference(archs.front());
  const Board *board = kBoards;
  for (const Board &candidate : kBoards)
    if (candidate.arch <= number)
      board = &candidate;
  auto allAtLeast = [&](unsigned minimum) {
    return llvm::all_of(archs, [&](StringRef arch) {
      return archNumberOrReference(arch) >= minimum;
    });
  };
  // The libraries are cuDNN and cuBLASLt. Only tensor cores are faster with
  // channels last.
  auto library = LibraryAttr::get(
      context, /*channels_last=*/false, /*fused_leaky_relu=*/false,
      /*bf16=*/allAtLeast(80), /*f16=*/allAtLeast(70), /*tf32=*/allAtLeast(80),
      /*f32_weight_gradients=*/false, kSlowBiasElements);
  return GpuAttr::get(context, archs.front(), board->multiprocessors,
                      board->threads, /*block_threads=*/1024,
                      /*shared_bytes=*/48 << 10, board->cacheBytes,
                      board->memoryBytes, board->operations, library,
                      board->mhz, board->doubles * board->multiprocessors,
                      board->products * board->multiprocessors);
}
