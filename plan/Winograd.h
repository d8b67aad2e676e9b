//===- Winograd.h - Where Winograd's algorithms are taken -------*- C++ -*-===//
//
// Which convolutions of a plan a CPU computes by Winograd's algorithms, with
// which tiles, and what scratch that takes: the runtime chooses by it, the
// compiler tells from it what a plan will need.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>

namespace brew::plan::winograd {

/// Channels must be a multiple of it, and matrices lie so many elements more
/// than their own apart: else they would lie in the same places of the caches.
inline constexpr std::int64_t kChannelStep = 16;

/// A convolution of 3x3 with stride 1, as the sums and products see it.
struct ConvolutionSize {
  Direction direction;
  std::int64_t images;
  /// Outputs of an image: pixels of dx going back by the data.
  std::int64_t height, width;
  /// Channels of what is read and of what is made; of x and y for weights.
  std::int64_t inputs, outputs;
  /// The weights' sums are computed once, not in every run.
  bool isConstant;
  int threads;

  std::int64_t rows(std::int64_t tile) const {
    return (height + tile - 1) / tile;
  }
  std::int64_t columns(std::int64_t tile) const {
    return (width + tile - 1) / tile;
  }
  std::int64_t tiles(std::int64_t tile) const {
    return images * rows(tile) * columns(tile);
  }
};

/// Products of matrices for tiles of m x m.
inline std::int64_t productCount(std::int64_t m) { return (m + 2) * (m + 2); }

/// What is made, multiplied and summed up again at a time, so that it stays in
/// the caches: blocks of tiles by all weights, or all tiles by the weights of
/// some outputs.
struct TileBlock {
  std::int64_t tiles, outputs;
};
TileBlock tileBlockOf(const ConvolutionSize &size, std::int64_t m);

/// The tile of the fastest way, 2 or 4, or 0: oneDNN's convolution. By a model
/// without a clock: the same plan gives the same bits on every run.
std::int64_t fastestTile(const ConvolutionSize &size);

/// Whether the algorithms' conditions hold: f32, 3x3, stride 1, no groups,
/// channels side by side. `b` may be null.
bool isApplicable(const ConvolutionCall &call, const Buffer &x, const Buffer &w,
                const Buffer *b, const Buffer &y);

/// `isConstant`: the weights stay as they are from run to run.
ConvolutionSize convolutionSizeOf(const ConvolutionCall &call, const Buffer &x, const Buffer &y,
            bool isConstant, int threads);

/// What a call reserves of scratch for its sums with tiles of `tile`; what the
/// library's products need themselves comes on top. `hasBias`: a bias, or the
/// gradient by one.
std::uint64_t scratchBytes(const ConvolutionSize &size, std::int64_t tile, bool hasBias);

/// Bytes of `rows` x `columns` matrices of sums, one for each product.
std::uint64_t matrixBytes(std::int64_t tile, std::int64_t rows,
                          std::int64_t columns);

} // namespace brew::plan::winograd
