//===- WinogradModel.h - Where Winograd's algorithms are faster -*- C++ -*-===//
#pragma once

#include "runtime/plan/PlanFile.h"

#include <cstdint>

namespace brew::runtime::winograd {

/// A convolution of 3x3 with stride 1, as the sums and products see it.
struct Size {
  plan::Direction direction;
  std::int64_t images;
  /// Outputs of an image: pixels of dx going back by the data.
  std::int64_t height, width;
  /// Channels of what is read and of what is made; of x and y for weights.
  std::int64_t inputs, outputs;
  /// The weights' sums are computed once, not in every run.
  bool isFixed;
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
inline std::int64_t products(std::int64_t m) { return (m + 2) * (m + 2); }

/// What is made, multiplied and summed up again at a time, so that it stays in
/// the caches: blocks of tiles by all weights, or all tiles by the weights of
/// some outputs.
struct Block {
  std::int64_t tiles, outputs;
};
Block blockOf(const Size &size, std::int64_t m);

/// The tile of the fastest way, 2 or 4, or 0: oneDNN's convolution. By a model
/// without a clock: the same plan gives the same bits on every run.
std::int64_t fastestTile(const Size &size);

} // namespace brew::runtime::winograd
