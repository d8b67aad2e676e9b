//===- Clusters.h - Clustered rows ------------------------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"
#include "extras/embedding/MatrixProducts.h"

#include <vector>

namespace brew::test {

/// Returns rows of three clusters: row i belongs to cluster i % 3, with a
/// standard deviation of 1 around the cluster's centre.
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
