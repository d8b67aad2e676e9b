//===- Affinities.h - Affinities of rows in t-SNE ---------------*- C++ -*-===//
#pragma once

#include "extras/embedding/Lanes.h"
#include "extras/embedding/Neighbours.h"

namespace brew::embedding {

/// t-SNE's joint probabilities: a sparse symmetric matrix in CSR format whose
/// entries sum to 1. Rows are padded to a multiple of kLanes with entries of
/// value 0 in the row's own column.
struct Affinities {
  std::vector<std::int64_t> begins; ///< of rows, and the end of the last row
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  std::int64_t rows() const {
    return static_cast<std::int64_t>(begins.size()) - 1;
  }
};

/// Computes p(ij) = (p(j|i) + p(i|j)) / (2 rows). p(j|i) is a Gaussian over the
/// neighbours of row i with the entropy log(perplexity). `perplexity` must be
/// less than the number of neighbours.
Affinities computeAffinities(const Neighbours &neighbours, double perplexity,
                             const runtime::Threads &threads);

} // namespace brew::embedding
