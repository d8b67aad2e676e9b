//===- Multiprocessor.cpp - Limits of a multiprocessor, and occupancy -----===//
//
// The limits are from CUDA's programming guide ("Technical specifications per
// compute capability"), the rounding from its occupancy calculator. Only the
// GPU's compiler knows how many registers a kernel uses; the simulator assumes
// the maximum that __launch_bounds__ allow.
//
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "../engine/Engine.h"

#include <algorithm>

namespace cudasim {

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreadsPerBlock = 1024;
constexpr unsigned kRegistersPerThread = 255;

constexpr unsigned roundUp(unsigned value, unsigned unit) {
  return (value + unit - 1) / unit * unit;
}
constexpr unsigned roundDown(unsigned value, unsigned unit) {
  return value / unit * unit;
}
constexpr unsigned warpsOf(unsigned threads) {
  return (threads + kWarp - 1) / kWarp;
}

} // namespace

Multiprocessor Multiprocessor::ofDevice() {
  constexpr unsigned K = 1024;
  switch (environmentNumber("CUDASIM_CAPABILITY", 90)) {
  case 70:
    return {2048, 32, 96 * K, 0};
  case 75:
    return {1024, 16, 64 * K, 0};
  case 80:
    return {2048, 32, 164 * K, 1 * K};
  case 86:
    return {1536, 16, 100 * K, 1 * K};
  case 87:
    return {1536, 16, 164 * K, 1 * K};
  case 89:
  case 120:
  case 121:
    return {1536, 24, 100 * K, 1 * K};
  default: // 9.0, 10.x
    return {2048, 32, 228 * K, 1 * K};
  }
}

unsigned Multiprocessor::registersOf(const LaunchBounds &bounds) const {
  if (const std::uint64_t fixed = environmentNumber("CUDASIM_REGISTERS", 0))
    return static_cast<unsigned>(fixed);
  const unsigned perBlock = warpsOf(bounds.threads) * kWarp;
  // The compiler ignores a minimum that exceeds the multiprocessor's threads or
  // blocks.
  unsigned resident = std::max(bounds.minimumBlocks, 1u);
  if (resident > std::min(blocks, threads / perBlock))
    resident = 1;
  return std::min(roundDown(kRegisters / (resident * perBlock), 8),
                  kRegistersPerThread);
}

unsigned Multiprocessor::residentBlocks(const KernelAttributes &kernel,
                                        unsigned blockThreads,
                                        std::size_t dynamicShared) const {
  if (blockThreads == 0 ||
      blockThreads > std::min(kernel.bounds.threads, kThreadsPerBlock) ||
      *kernel.sharedBytes + dynamicShared > kSharedPerBlock)
    return 0;
  const unsigned blockWarps = warpsOf(blockThreads);
  // Registers are allocated per warp in units of 256, and warps are divided
  // among four schedulers.
  const unsigned warpRegisters =
      roundUp(registersOf(kernel.bounds) * kWarp, 256);
  const unsigned warps =
      std::min(roundDown(kRegisters / warpRegisters, 4), threads / kWarp);
  const unsigned blockShared =
      roundUp(*kernel.sharedBytes + static_cast<unsigned>(dynamicShared) +
                  reservedShared,
              128);
  return std::min({blocks, warps / blockWarps,
                   blockShared ? shared / blockShared : blocks});
}

} // namespace cudasim
