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
  /// Gives all indices equal weights.
  WeightedChoice() = default;
  /// `weights` are the weights of all indices; finite and not negative.
  explicit WeightedChoice(const std::vector<double> &weights);

  /// Returns whether draws follow the weights. They do not if the prefix sums
  /// are not finite, or lose weights that are far smaller than others.
  static bool canDraw(const std::vector<double> &weights);

  /// Returns the sum of the weights of a range; its size if weights are equal.
  double total(const IndexRange &range) const;
  /// Draws an index of `range` that is not in `excluded`, a subrange of it,
  /// from position `number` of the stream. The remaining range must have a
  /// positive weight.
  std::uint64_t draw(const IndexRange &range, const IndexRange &excluded,
                     const caffe::RandomStream &stream,
                     std::uint64_t number) const;

private:
  std::uint64_t nearestValid(std::uint64_t index, const IndexRange &range,
                             const IndexRange &excluded) const;
  bool hasEqualWeights() const { return sums.empty(); }

  std::vector<double> sums; ///< prefix sums of the weights, and the total
};

} // namespace brew::runtime
