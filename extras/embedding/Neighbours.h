//===- Neighbours.h - Nearest neighbours of rows ----------------*- C++ -*-===//
#pragma once

#include "extras/embedding/MatrixProducts.h"

#include <functional>

namespace brew::embedding {

/// The nearest other rows of each row, ordered by distance, then by row number.
struct Neighbours {
  std::int64_t count = 0;         ///< per row
  std::vector<std::int32_t> rows; ///< rows x count
  std::vector<float> squared;     ///< squared distances; rows x count
};

/// Computes exact nearest neighbours by Euclidean distance. All distances come
/// from matrix products of blocks; the nearest ones are recomputed from
/// differences because the products lose digits. `centredRows` must have mean
/// 0, which keeps that loss small, and finite squared norms, as centred()
/// ensures; otherwise throws Error (70). Requires 1 <= count < rows. Calls
/// `step` regularly; it may throw.
Neighbours nearestNeighbours(const Matrix &centredRows, std::int64_t count,
                             const runtime::Threads &threads,
                             const std::function<void()> &step);

} // namespace brew::embedding
