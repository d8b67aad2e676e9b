//===- Clusters.h - Clustered rows for tests --------------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"
#include "extras/embedding/MatrixProducts.h"

#include <vector>

namespace brew::test {

/// Returns centred rows of three clusters. Row i belongs to cluster i % 3,
/// whose centre has a 6 in column i % 3 and 0 elsewhere; the standard deviation
/// in each column is 1.
inline embedding::Matrix clusters(std::int64_t rows, std::int64_t columns) {
  const caffe::RandomStream random(7, "clusters");
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(
        static_cast<float>(random.gaussian(static_cast<std::uint64_t>(i)) +
                           (i % columns == i / columns % 3 ? 6 : 0)));
  return embedding::centred(values.data(), rows, columns);
}

} // namespace brew::test
