//===- Winograd.h - Choice of Winograd's algorithms on CPUs -----*- C++ -*-===//
//
// Decides which convolutions of a plan a CPU computes by Winograd's algorithms
// and with which tiles, and computes the scratch memory they need. The runtime
// uses these functions to choose algorithms, the compiler to estimate memory.
// "Transformed" values are the linear combinations of pixels or of weights that
// the literature calls transforms. `m` is the size of the output tiles, 2 or 4:
// a tile has m x m pixels.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>

namespace brew::plan::winograd {

/// The number of channels must be a multiple of this constant. It is also the
/// padding between matrices, in elements, which keeps them from mapping to the
/// same cache sets.
inline constexpr std::int64_t kChannelStep = 16;

/// A 3x3 convolution with stride 1.
struct ConvolutionSize {
  Direction direction;
  std::int64_t images;
  /// Extents of an output image (dx for BACKWARD_DATA).
  std::int64_t height, width;
  /// Channels of the images read and of the images written (BACKWARD_WEIGHTS:
  /// of x and of y).
  std::int64_t inputs, outputs;
  /// The weights are transformed once, because they do not change between runs.
  bool isConstant;
  int threads;

  /// Rows, columns and number of output tiles; tiles at the end may be partial.
  std::int64_t rows(std::int64_t m) const { return (height + m - 1) / m; }
  std::int64_t columns(std::int64_t m) const { return (width + m - 1) / m; }
  std::int64_t tiles(std::int64_t m) const {
    return images * rows(m) * columns(m);
  }
};

/// Returns the number of matrix products: one per element of an input tile.
inline std::int64_t productCount(std::int64_t m) { return (m + 2) * (m + 2); }

/// The number of tiles and output channels that are processed at a time, so
/// that their transformed values stay in the caches: some tiles with all
/// weights, or all tiles with the weights of some outputs.
struct TileBlock {
  std::int64_t tiles, outputs;
};
TileBlock tileBlockOf(const ConvolutionSize &size, std::int64_t m);

/// Returns the fastest tile size `m`, or 0 if oneDNN's convolution is faster.
/// This is a cost model, not a measurement, so that a plan computes the same
/// bits in every run.
std::int64_t fastestTile(const ConvolutionSize &size);

/// Returns whether the algorithms are applicable: f32, 3x3, stride 1, no
/// groups, channels innermost. `b` may be null.
bool isApplicable(const ConvolutionCall &call, const Buffer &x, const Buffer &w,
                  const Buffer *b, const Buffer &y);

/// Returns the sizes of `call`. `isConstant` means that the weights do not
/// change between runs.
ConvolutionSize convolutionSizeOf(const ConvolutionCall &call, const Buffer &x,
                                  const Buffer &y, bool isConstant,
                                  int threads);

/// Returns the scratch memory that a call needs for transformed values, without
/// the scratch memory of the library's matrix products. `hasBias` means that
/// the call adds a bias or computes its gradient.
std::uint64_t scratchBytes(const ConvolutionSize &size, std::int64_t m,
                           bool hasBias);

/// Returns the size in bytes of productCount(m) matrices of transformed values,
/// each `rows` x `columns`, with the padding between them.
std::uint64_t matrixBytes(std::int64_t m, std::int64_t rows,
                          std::int64_t columns);

} // namespace brew::plan::winograd
