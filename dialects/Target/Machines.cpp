//===- Machines.cpp - The numbers of machines -----------------------------===//
//
// Of processors what follows from the instruction set; of GPUs those of a usual
// board of each architecture. They rank alternatives, so that a board with some
// more or fewer multiprocessors is served as well.
//
//===----------------------------------------------------------------------===//
#include "dialects/Target/TargetDialect.h"

#include "llvm/ADT/StringRef.h"

using namespace mlir;
using namespace brew::targetir;

/// A gradient of as many elements comes from memory, not from a cache.
static constexpr int64_t kLongSum = 1 << 20;

CpuAttr brew::targetir::describeCpu(MLIRContext *context, int64_t vectorBits,
                                    bool bf16) {
  // Cores without AVX-512 may have a quarter of the cache of those with it.
  const int64_t l2Bytes = vectorBits >= 512 ? 1 << 20 : 1 << 18;
  // oneDNN.
  auto library =
      LibraryAttr::get(context, /*channels_last=*/true, /*leaky_products=*/true,
                       bf16, /*f16=*/false, /*tf32=*/false, kLongSum);
  return CpuAttr::get(context, vectorBits, l2Bytes, /*cores=*/4, library);
}

unsigned brew::targetir::archNumber(StringRef arch) {
  unsigned number = 0;
  if (!arch.consume_front("sm_") || arch.consumeInteger(10, number) ||
      number < 10 || number > 999 || (arch != "" && arch != "a" && arch != "f"))
    return 0;
  return number;
}

namespace {

struct Board {
  unsigned arch;
  int64_t multiprocessors, threads, cacheBytes, memoryBytes, operations;
};

// By architecture, ascending.
constexpr Board kBoards[] = {
    {60, 56, 2048, 88 << 10, 550, 3584},      // P100
    {61, 30, 2048, 144 << 10, 226, 3840},     // P40
    {70, 80, 2048, 128 << 10, 588, 5120},     // V100
    {72, 8, 2048, 128 << 10, 99, 512},        // Jetson AGX Xavier
    {75, 40, 1024, 96 << 10, 200, 2560},      // T4
    {80, 108, 2048, 192 << 10, 1440, 6912},   // A100
    {86, 72, 1536, 128 << 10, 354, 9216},     // A10
    {87, 16, 1536, 192 << 10, 158, 2048},     // Jetson AGX Orin
    {89, 142, 1536, 128 << 10, 343, 18176},   // L40S
    {90, 132, 2048, 256 << 10, 1920, 16000},  // H100
    {100, 148, 2048, 256 << 10, 4324, 18944}, // B200
    {110, 20, 1536, 256 << 10, 174, 2560},    // Jetson AGX Thor
    {120, 170, 1536, 128 << 10, 744, 21760},  // GeForce RTX 5090
    {121, 48, 1536, 128 << 10, 114, 6144},    // GB10
};
/// Its numbers stand for the simulator as well.
constexpr unsigned kReference = 90;

} // namespace

static unsigned numberOf(StringRef arch) {
  return arch == "sim" ? kReference : archNumber(arch);
}

GpuAttr brew::targetir::describeGpu(MLIRContext *context,
                                    ArrayRef<StringRef> archs) {
  const unsigned number = numberOf(archs.front());
  const Board *board = kBoards;
  for (const Board &other : kBoards)
    if (other.arch <= number)
      board = &other;
  auto all = [&](unsigned since) {
    return llvm::all_of(
        archs, [&](StringRef arch) { return numberOf(arch) >= since; });
  };
  // cuDNN and cuBLASLt: tensor cores want channels last, others do not.
  auto library = LibraryAttr::get(
      context, /*channels_last=*/false, /*leaky_products=*/false,
      /*bf16=*/all(80), /*f16=*/all(70), /*tf32=*/all(80), kLongSum);
  return GpuAttr::get(context, archs.front(), board->multiprocessors,
                      board->threads, /*block_threads=*/1024,
                      /*shared_bytes=*/48 << 10, board->cacheBytes,
                      board->memoryBytes, board->operations, library);
}
