//===- Clusters.h - Rows that lie in groups ---------------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"
#include "extras/embedding/MatrixProducts.h"

#include <vector>

namespace brew::test {

/// Row i is of group i % 3: a normal deviation of 1 around a centre of its own.
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
