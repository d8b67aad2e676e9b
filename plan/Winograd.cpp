//===- Winograd.cpp - Choice of Winograd's algorithms on CPUs -------------===//
#include "plan/Winograd.h"

#include "plan/Contract.h"

#include <algorithm>

namespace brew::plan::winograd {

namespace {

// Constants of the cost model: round figures for one core with AVX-512, of
// which only the ratios matter. Sizes are of transformed values.

/// Operations per second of matrix products, and of oneDNN's BACKWARD_WEIGHTS.
constexpr double kRate = 100e9;
constexpr double kGradientRate = 85e9;
/// Bytes per second from a core's cache.
constexpr double kCacheRate = 15e9;
/// Bytes of weights per second from memory, for all cores together.
constexpr double kMemoryRate = 15e9;
/// Size of a block that stays in a core's cache.
constexpr std::int64_t kBlockBytes = 3 << 19;
/// Minimum number of tiles for efficient matrix products.
constexpr std::int64_t kMinTiles = 64;
/// Maximum size of a block of BACKWARD_WEIGHTS, cached or not.
constexpr std::int64_t kMaxBlockBytes = 64 << 20;
/// Maximum sizes of weights and of inputs that stay cached.
constexpr std::int64_t kMaxCachedWeightBytes = 4 << 20;
constexpr std::int64_t kMaxCachedInputBytes = 16 << 20;
/// Outputs of a slice of the weights: the columns of oneDNN's product.
constexpr std::int64_t kSliceOutputs = 48;
/// Bytes of weights per second that a core transforms slice by slice.
constexpr double kSliceRate = 30e9;

/// Returns the size of the transformed weights.
double weightBytes(const ConvolutionSize &size, std::int64_t m) {
  return 4.0 *
         static_cast<double>(productCount(m) * size.inputs * size.outputs);
}

/// Returns whether the weights are transformed on demand, for a slice of the
/// outputs at a time. This pays off if the transformed weights do not stay
/// cached, but all transformed inputs do.
bool transformsBySlices(const ConvolutionSize &size, std::int64_t m) {
  return !size.isConstant && weightBytes(size, m) > kMaxCachedWeightBytes &&
         4 * productCount(m) * size.inputs * size.tiles(m) <=
             kMaxCachedInputBytes;
}

/// Returns the estimated time of Winograd's algorithm with tiles of m x m.
double estimateSeconds(const ConvolutionSize &size, std::int64_t m) {
  const auto tiles = static_cast<double>(size.tiles(m));
  const auto rows = static_cast<double>(productCount(m)) * tiles;
  const auto channels = static_cast<double>(size.inputs + size.outputs);
  const double multiply =
      2 * rows * static_cast<double>(size.inputs * size.outputs) / kRate;
  // Transformed values are written and read (2); the values before and after
  // the transforms are smaller (0.5).
  const double transforms = 4 * rows * channels * 2.5 / kCacheRate;
  if (transformsBySlices(size, m))
    return (multiply + transforms + weightBytes(size, m) / kSliceRate) /
           size.threads;
  const double weightPasses = size.isConstant ? 1 : 2.5;
  return (multiply + transforms) / size.threads +
         weightPasses * weightBytes(size, m) / kMemoryRate;
}

bool isFloat(const Buffer &buffer) { return buffer.type() == F32; }

/// Returns whether images are stored with the channels innermost.
bool isChannelsLast(const Buffer &buffer) {
  return buffer.dims_size() == 4 && isFloat(buffer) && buffer.strides(1) == 1 &&
         buffer.dims(1) % kChannelStep == 0;
}

} // namespace

TileBlock tileBlockOf(const ConvolutionSize &size, std::int64_t m) {
  const std::int64_t tiles = size.tiles(m);
  if (transformsBySlices(size, m))
    return {tiles, std::min(size.outputs, kSliceOutputs * size.threads)};
  const std::int64_t bytes = 4 * productCount(m) * (size.inputs + size.outputs);
  std::int64_t maxTiles =
      std::max(kMinTiles, kBlockBytes * size.threads / bytes);
  // Each block reads and writes the transformed weights.
  if (size.direction == BACKWARD_WEIGHTS)
    maxTiles = std::max(maxTiles, std::min(size.inputs * size.outputs * 4 /
                                               (size.inputs + size.outputs),
                                           kMaxBlockBytes / bytes));
  return {std::min(maxTiles, tiles), size.outputs};
}

std::int64_t fastestTile(const ConvolutionSize &size) {
  const double rate =
      size.direction == BACKWARD_WEIGHTS ? kGradientRate : kRate;
  const double directSeconds =
      18.0 * static_cast<double>(size.images * size.height * size.width) *
      static_cast<double>(size.inputs * size.outputs) / rate / size.threads;
  std::int64_t best = 0;
  double bestSeconds = directSeconds;
  for (std::int64_t m : {4, 2})
    if (const double seconds = estimateSeconds(size, m);
        seconds < bestSeconds) {
      bestSeconds = seconds;
      best = m;
    }
  return best;
}

bool isApplicable(const ConvolutionCall &call, const Buffer &x, const Buffer &w,
                  const Buffer *b, const Buffer &y) {
  if (call.group() != 1 || !isChannelsLast(x) || !isChannelsLast(y) ||
      !isFloat(w) || w.dims(2) != 3 || w.dims(3) != 3 || (b && !isFloat(*b)))
    return false;
  auto areOnes = [](const auto &values) {
    return std::all_of(values.begin(), values.end(),
                       [](std::int64_t value) { return value == 1; });
  };
  return areOnes(call.window().stride()) && areOnes(call.window().dilation());
}

ConvolutionSize convolutionSizeOf(const ConvolutionCall &call, const Buffer &x,
                                  const Buffer &y, bool isConstant,
                                  int threads) {
  const bool isBackwardData = call.direction() == BACKWARD_DATA;
  const Buffer &in = isBackwardData ? y : x, &out = isBackwardData ? x : y;
  return {call.direction(),
          out.dims(0),
          out.dims(2),
          out.dims(3),
          in.dims(1),
          out.dims(1),
          isConstant && call.direction() != BACKWARD_WEIGHTS,
          threads};
}

std::uint64_t matrixBytes(std::int64_t m, std::int64_t rows,
                          std::int64_t columns) {
  return sizeof(float) *
         static_cast<std::uint64_t>(productCount(m) * rows * columns +
                                    (productCount(m) - 1) * kChannelStep);
}

std::uint64_t scratchBytes(const ConvolutionSize &size, std::int64_t m,
                           bool hasBias) {
  const TileBlock block = tileBlockOf(size, m);
  std::uint64_t bytes = alignUp(matrixBytes(m, block.tiles, size.inputs)) +
                        alignUp(matrixBytes(m, block.tiles, block.outputs));
  if (!size.isConstant)
    bytes += alignUp(matrixBytes(m, size.inputs, block.outputs));
  // Each thread sums its own gradient of the bias.
  if (hasBias && size.direction == BACKWARD_WEIGHTS)
    bytes += alignUp(sizeof(float) *
                     static_cast<std::uint64_t>(size.threads * size.outputs));
  return bytes;
}

} // namespace brew::plan::winograd
