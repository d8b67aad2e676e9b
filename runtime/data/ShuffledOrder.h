//===- ShuffledOrder.h - Random orders of records ---------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Returns a random order of 0 .. count - 1, drawn from `count` positions of
/// the stream after `base`.
inline std::vector<std::int64_t>
shuffledOrderAt(const caffe::RandomStream &stream, std::size_t count,
                std::uint64_t base) {
  std::vector<std::int64_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  // Fisher-Yates.
  for (std::size_t i = count; i > 1; --i)
    std::swap(result[i - 1], result[stream.below(base + i, i)]);
  return result;
}

/// Returns a random order of 0 .. count - 1 that is a function of the stream
/// and of `purpose` alone. Each purpose has 2^40 positions of the stream.
inline std::vector<std::int64_t>
shuffledOrder(const caffe::RandomStream &stream, std::size_t count,
              std::uint64_t purpose) {
  return shuffledOrderAt(stream, count, purpose << 40);
}

} // namespace brew::runtime
