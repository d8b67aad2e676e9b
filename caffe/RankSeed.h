//===- RankSeed.h - The seed of a rank's random streams ---------*- C++ -*-===//
#pragma once

#include <cstdint>

namespace brew::caffe {

/// The seed of a run, and the rank that draws random numbers. Most streams
/// (fillers, dropout, transformations) differ by rank and use rankSeed().
/// Streams that must be the same on all ranks, such as the order of records,
/// use `common`.
struct RankSeed {
  std::uint64_t common = 0;
  std::uint64_t rank = 0;

  /// Returns the seed of this rank's own streams.
  std::uint64_t rankSeed() const { return common + rank; }
  /// Returns the seed whose rankSeed() on `rank` is `own`.
  static RankSeed fromOwn(std::uint64_t own, std::uint64_t rank) {
    return {own - rank, rank};
  }
};

} // namespace brew::caffe
