//===- WinogradModel.cpp - Where Winograd's algorithms are faster ---------===//
#include "runtime/cpu/WinogradModel.h"

#include <algorithm>

namespace brew::runtime::winograd {

namespace {

// Round numbers of a core of a machine with AVX-512; only the ratios matter.
constexpr double kRate = 100e9;               // products
constexpr double kGradientRate = 85e9;        // oneDNN's convolution by weights
constexpr double kCacheRate = 15e9;           // bytes of sums
constexpr double kMemoryRate = 15e9;          // bytes of weights, by all cores
constexpr std::int64_t kBlockBytes = 3 << 19; // of sums that stay near a core
constexpr std::int64_t kFewestTiles = 64;     // for fast products
constexpr std::int64_t kMostBytes = 64 << 20; // of sums, wherever they are
constexpr std::int64_t kWeightBytes = 4 << 20; // of their sums, in a cache
constexpr std::int64_t kInputBytes = 16 << 20; // of their sums, likewise
constexpr std::int64_t kPartOutputs = 48;      // columns of oneDNN's product
constexpr double kPartRate = 30e9; // bytes of sums of weights of such a part

double matrixBytes(const Size &size, std::int64_t m) {
  return 4.0 * static_cast<double>(products(m) * size.inputs * size.outputs);
}

/// Sums of weights that do not stay in the caches are made when they are
/// needed, those of some outputs, where the sums of all inputs do stay there.
bool isByOutputs(const Size &size, std::int64_t m) {
  return !size.isFixed && matrixBytes(size, m) > kWeightBytes &&
         4 * products(m) * size.inputs * size.tiles(m) <= kInputBytes;
}

double secondsOf(const Size &size, std::int64_t m) {
  const auto tiles = static_cast<double>(size.tiles(m));
  const auto rows = static_cast<double>(products(m)) * tiles;
  const auto channels = static_cast<double>(size.inputs + size.outputs);
  const double multiply =
      2 * rows * static_cast<double>(size.inputs * size.outputs) / kRate;
  // Written, read and the data beside them.
  const double sums = 4 * rows * channels * 2.5 / kCacheRate;
  if (isByOutputs(size, m))
    return (multiply + sums + matrixBytes(size, m) / kPartRate) / size.threads;
  const double passes = size.isFixed ? 1 : 2.5;
  return (multiply + sums) / size.threads +
         passes * matrixBytes(size, m) / kMemoryRate;
}

} // namespace

Block blockOf(const Size &size, std::int64_t m) {
  const std::int64_t tiles = size.tiles(m);
  if (isByOutputs(size, m))
    return {tiles, std::min(size.outputs, kPartOutputs * size.threads)};
  const std::int64_t bytes = 4 * products(m) * (size.inputs + size.outputs);
  std::int64_t most =
      std::max(kFewestTiles, kBlockBytes * size.threads / bytes);
  // Sums of weights are read and written with each block.
  if (size.direction == plan::BACKWARD_WEIGHTS)
    most = std::max(most, std::min(size.inputs * size.outputs * 4 /
                                       (size.inputs + size.outputs),
                                   kMostBytes / bytes));
  return {std::min(most, tiles), size.outputs};
}

std::int64_t fastestTile(const Size &size) {
  const double rate =
      size.direction == plan::BACKWARD_WEIGHTS ? kGradientRate : kRate;
  const double direct =
      18.0 * static_cast<double>(size.images * size.height * size.width) *
      static_cast<double>(size.inputs * size.outputs) / rate / size.threads;
  std::int64_t best = 0;
  double least = direct;
  for (std::int64_t m : {4, 2})
    if (const double seconds = secondsOf(size, m); seconds < least) {
      least = seconds;
      best = m;
    }
  return best;
}

} // namespace brew::runtime::winograd
