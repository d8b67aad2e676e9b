//===- WeightedChoice.h - Weighted random choice ----------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// Indices [begin, end).
struct IndexRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
};

/// Draws indices with probabilities proportional to weights.
class WeightedChoice {
public:
  /// All weights are equal.
  WeightedChoice() = default;
  /// The weights of all indices; finite and not negative.
  explicit WeightedChoice(const std::vector<double> &weights);

  /// Whether draws follow the weights. False if sums lose weights that are far
  /// smaller than others, or are not finite.
  static bool canDraw(const std::vector<double> &weights);

  /// Sum of the weights of a range.
  double total(const IndexRange &range) const;
  /// Draws an index of `among` that is not in `without`, a subrange of it, from
  /// position `number` of the stream. The remaining range must have a positive
  /// weight.
  std::uint64_t draw(const IndexRange &among, const IndexRange &without,
                     const caffe::RandomStream &stream,
                     std::uint64_t number) const;

private:
  std::uint64_t nearest(std::uint64_t index, const IndexRange &among,
                        const IndexRange &without) const;
  bool isAlike() const { return sums.empty(); }

  std::vector<double> sums; ///< prefix sums of the weights, and the total
};

} // namespace brew::runtime
