//===- Winograd.cpp - Choice of Winograd's algorithms on CPUs -------------===//
#include "plan/Winograd.h"

#include "plan/Contract.h"
#include "plan/WindowAxes.h"

#include <algorithm>

namespace brew::plan::winograd {

namespace {

// Round figures for one core with AVX-512; only the ratios matter. Rates are
// per second, sizes are of transformed values.
constexpr double kRate = 100e9;        // operations
constexpr double kGradientRate = 85e9; // operations, oneDNN's BACKWARD_WEIGHTS
constexpr double kCacheRate = 15e9;    // bytes
constexpr double kMemoryRate = 15e9;   // bytes of weights, all cores together
constexpr std::int64_t kBlockBytes = 3 << 19;     // that stay in a core's cache
constexpr std::int64_t kMinTiles = 64;            // for efficient products
constexpr std::int64_t kMaxBlockBytes = 64 << 20; // wherever they are
constexpr std::int64_t kWeightBytes = 4 << 20; // of weights, that stay cached
constexpr std::int64_t kInputBytes = 16 << 20; // of inputs, that stay cached
constexpr std::int64_t kSliceOutputs = 48;     // columns of oneDNN's product
constexpr double kSliceRate = 30e9; // bytes of weights of such a slice

double weightBytes(const ConvolutionSize &size, std::int64_t m) {
  return 4.0 *
         static_cast<double>(productCount(m) * size.inputs * size.outputs);
}

/// Returns whether the weights are transformed on demand, for some outputs at a
/// time: if transformed weights do not stay cached, but all transformed inputs
/// do.
bool isByOutputs(const ConvolutionSize &size, std::int64_t m) {
  return !size.isConstant && weightBytes(size, m) > kWeightBytes &&
         4 * productCount(m) * size.inputs * size.tiles(m) <= kInputBytes;
}

double secondsOf(const ConvolutionSize &size, std::int64_t m) {
  const auto tiles = static_cast<double>(size.tiles(m));
  const auto rows = static_cast<double>(productCount(m)) * tiles;
  const auto channels = static_cast<double>(size.inputs + size.outputs);
  const double multiply =
      2 * rows * static_cast<double>(size.inputs * size.outputs) / kRate;
  // Transformed values are written and read; 0.5 for the other data.
  const double sums = 4 * rows * channels * 2.5 / kCacheRate;
  if (isByOutputs(size, m))
    return (multiply + sums + weightBytes(size, m) / kSliceRate) / size.threads;
  const double passes = size.isConstant ? 1 : 2.5;
  return (multiply + sums) / size.threads +
         passes * weightBytes(size, m) / kMemoryRate;
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
  if (isByOutputs(size, m))
    return {tiles, std::min(size.outputs, kSliceOutputs * size.threads)};
  const std::int64_t bytes = 4 * productCount(m) * (size.inputs + size.outputs);
  std::int64_t most = std::max(kMinTiles, kBlockBytes * size.threads / bytes);
  // Each block reads and writes the transformed weights.
  if (size.direction == BACKWARD_WEIGHTS)
    most = std::max(most, std::min(size.inputs * size.outputs * 4 /
                                       (size.inputs + size.outputs),
                                   kMaxBlockBytes / bytes));
  return {std::min(most, tiles), size.outputs};
}

std::int64_t fastestTile(const ConvolutionSize &size) {
  const double rate =
      size.direction == BACKWARD_WEIGHTS ? kGradientRate : kRate;
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

bool isApplicable(const ConvolutionCall &call, const Buffer &x, const Buffer &w,
                  const Buffer *b, const Buffer &y) {
  if (call.group() != 1 || !isChannelsLast(x) || !isChannelsLast(y) ||
      !isFloat(w) || w.dims(2) != 3 || w.dims(3) != 3 || (b && !isFloat(*b)))
    return false;
  const auto axes = axesOf(call.window(), 2);
  return std::all_of(axes.begin(), axes.end(), [](const WindowAxis &axis) {
    return axis.stride == 1 && axis.dilation == 1;
  });
}

ConvolutionSize convolutionSizeOf(const ConvolutionCall &call, const Buffer &x,
                                  const Buffer &y, bool isConstant,
                                  int threads) {
  const bool isBack = call.direction() == BACKWARD_DATA;
  const Buffer &in = isBack ? y : x, &out = isBack ? x : y;
  return {call.direction(),
          out.dims(0),
          out.dims(2),
          out.dims(3),
          in.dims(1),
          out.dims(1),
          isConstant && call.direction() != BACKWARD_WEIGHTS,
          threads};
}

std::uint64_t matrixBytes(std::int64_t tile, std::int64_t rows,
                          std::int64_t columns) {
  return sizeof(float) *
         static_cast<std::uint64_t>(productCount(tile) * rows * columns +
                                    (productCount(tile) - 1) * kChannelStep);
}

std::uint64_t scratchBytes(const ConvolutionSize &size, std::int64_t tile,
                           bool hasBias) {
  const TileBlock block = tileBlockOf(size, tile);
  std::uint64_t bytes = alignUp(matrixBytes(tile, block.tiles, size.inputs)) +
                        alignUp(matrixBytes(tile, block.tiles, block.outputs));
  if (!size.isConstant)
    bytes += alignUp(matrixBytes(tile, size.inputs, block.outputs));
  // Each thread sums its own gradient of the bias.
  if (hasBias && size.direction == BACKWARD_WEIGHTS)
    bytes += alignUp(sizeof(float) *
                     static_cast<std::uint64_t>(size.threads * size.outputs));
  return bytes;
}

} // namespace brew::plan::winograd
