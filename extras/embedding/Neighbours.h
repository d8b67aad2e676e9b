//===- Neighbours.h - Each row's nearest rows -------------------*- C++ -*-===//
#pragma once

#include "extras/embedding/MatrixProducts.h"

#include <functional>

namespace brew::embedding {

/// Of each row the nearest others, nearest first, the one of lower number first
/// where two are equally near.
struct Neighbours {
  std::int64_t count = 0;         ///< of each row
  std::vector<std::int32_t> rows; ///< rows x count
  std::vector<float> squared;     ///< Euclidean distances, squared; likewise
};

/// Exact: all distances by products of blocks, those of the nearest once more
/// by differences, since products lose digits. `centredRows` have their mean at
/// 0, which keeps that loss small, and are finite, as their cells' sums are
/// (as centred() makes them; Error (70) else). 1 <= count < rows. `step` is
/// called now and then and may throw.
Neighbours nearestNeighbours(const Matrix &centredRows, std::int64_t count,
                             const runtime::Threads &threads,
                             const std::function<void()> &step);

} // namespace brew::embedding
