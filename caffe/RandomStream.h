//===- RandomStream.h - Counter-based random numbers ------------*- C++ -*-===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). The i-th draw of a stream is a function of (seed, stream, i) alone,
// so fillers can be computed by any number of threads, readers can be resumed
// from a counter, and streams never influence each other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace brew::caffe {

/// One block of the generator: four independent 32-bit words.
using RandomBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10 of a counter under a key.
RandomBlock philox(RandomBlock counter, std::array<std::uint32_t, 2> key);

/// A named sequence of random blocks under a seed.
class RandomStream {
public:
  /// `name` tells streams apart, e.g. "filler conv1/0".
  RandomStream(std::uint64_t seed, std::string_view name);

  /// The block at position `index`.
  RandomBlock block(std::uint64_t index) const;
  /// Uniform in [0, 1) with 53 random bits; uses words 0 and 1 of the block.
  double uniform(std::uint64_t index) const;
  /// Standard normal; uses all words of the block.
  double gaussian(std::uint64_t index) const;
  /// Uniform integer in [0, limit); limit > 0. No modulo bias worth measuring:
  /// 64 random bits are scaled.
  std::uint64_t below(std::uint64_t index, std::uint64_t limit) const;

private:
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 2> stream;
};

} // namespace brew::caffe
