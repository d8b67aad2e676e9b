//===- WeightedChoice.h - Random byLabel among weighted ones -----*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// Places [begin, end).
struct IndexRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
};

/// Draws byLabel as often as their weights say.
class WeightedChoice {
public:
  /// All byLabel are alike.
  WeightedChoice() = default;
  /// Of each index; finite and not negative.
  explicit WeightedChoice(const std::vector<double> &weights);

  /// Whether each index is drawn as often as its weight says: not where sums
  /// lose weights that are far smaller than others, or are no numbers.
  static bool canDraw(const std::vector<double> &weights);

  /// Sum of the weights of a range.
  double total(const IndexRange &range) const;
  /// A index of `among` that is not in `without`, a part of it: what the draw
  /// of that number from the stream gives. What is left must have a weight
  /// above 0.
  std::uint64_t draw(const IndexRange &among, const IndexRange &without,
                     const caffe::RandomStream &stream,
                     std::uint64_t number) const;

private:
  std::uint64_t nearest(std::uint64_t index, const IndexRange &among,
                        const IndexRange &without) const;
  bool isAlike() const { return sums.empty(); }

  std::vector<double> sums; ///< of the weights before each index, and of all
};

} // namespace brew::runtime
