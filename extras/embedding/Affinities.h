//===- Affinities.h - How alike rows are ------------------------*- C++ -*-===//
#pragma once

#include "extras/embedding/Lanes.h"
#include "extras/embedding/Neighbours.h"

namespace brew::embedding {

/// t-SNE's joint probabilities: a sparse symmetric matrix whose entries add up
/// to 1, row by row. Rows are padded to a multiple of kLanes by entries of
/// value 0 in the row's own column.
struct Affinities {
  std::vector<std::int64_t> begins; ///< of rows, and the end of the last
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  std::int64_t rows() const {
    return static_cast<std::int64_t>(begins.size()) - 1;
  }
};

/// A Gaussian over each row's neighbours whose entropy is the logarithm of
/// `perplexity` (less than their number); p(ij) is the mean of p(j|i) and
/// p(i|j) over the number of rows.
Affinities affinities(const Neighbours &neighbours, double perplexity,
                      const runtime::Threads &threads);

} // namespace brew::embedding
