//===- Filler.h - Initial values of parameters and dummy data ---*- C++ -*-===//
//
// Caffe's seven fillers, and a diagonal matrix, over counter-based random
// numbers. Element i depends only on (filler, shape, seed, stream, i), so the
// bits are the same for any number of threads and any target.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/RandomStream.h"
#include "formats/caffe.pb.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::caffe {

/// A filler for a blob of one shape.
class Filler {
public:
  /// `shape` is the blob's shape in Caffe's order, which determines fan-in
  /// (count / shape[0]) and fan-out (count / shape[1]; for a vector, count).
  /// `subject` names the blob in errors. Throws Error (1) if the type is
  /// unknown or does not suit the shape.
  Filler(const caffe::FillerParameter &parameter,
         std::vector<std::int64_t> shape, RandomStream stream,
         const std::string &subject);

  std::int64_t count() const { return elements; }
  /// Returns whether every fill has the same values.
  bool isConstant() const { return kind == Kind::Constant; }

  /// Selects fill number `counter`. Each fill has different random numbers, for
  /// blobs that are refilled before every forward pass. A new filler starts
  /// with fill 0.
  void begin(std::uint64_t counter);

  /// Writes the row-major elements [from, to) to `out`. Threads may write
  /// disjoint ranges concurrently.
  template <typename Value>
  void fill(std::int64_t from, std::int64_t to, Value *out) const;

private:
  /// Number of elements that are computed at a time.
  static constexpr std::int64_t kChunk = 256;

  enum class Kind { Constant, Uniform, Gaussian, UnitBall, Bilinear, Diagonal };

  /// Returns the fan-in, the fan-out or their average, as variance_norm
  /// selects.
  double fan(const caffe::FillerParameter &parameter) const;
  /// Writes elements [from, from + count) to `out`; `count` is at most kChunk.
  void fillChunk(std::int64_t from, std::int64_t count, double *out) const;
  /// Sets the elements that a sparse gaussian omits to 0.
  void applyMask(std::int64_t from, std::int64_t count, double *out) const;
  double bilinear(std::int64_t index) const;
  /// Returns the position in the stream of element `index` of the current fill.
  std::uint64_t streamPosition(std::int64_t index) const {
    return drawBase + static_cast<std::uint64_t>(index);
  }

  Kind kind = Kind::Constant;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  RandomStream stream;
  /// Constant: the value. Diagonal: the other elements. Uniform: [first,
  /// second). Gaussian: mean and standard deviation.
  double first = 0, second = 0;
  /// Probability that an element of a sparse gaussian is not 0; 1 if not
  /// sparse.
  double keepProbability = 1;
  std::vector<double> diagonal; ///< its elements, or the one of all of them
  std::uint64_t drawBase = 0;   ///< stream position of element 0 of this fill
  std::vector<double> rowSums;  ///< unit ball: one per row of this fill
};

//===----------------------------------------------------------------------===//

template <typename Value>
void Filler::fill(std::int64_t from, std::int64_t to, Value *out) const {
  double chunk[kChunk];
  for (std::int64_t begin = from; begin < to; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, to - begin);
    fillChunk(begin, count, chunk);
    for (std::int64_t i = 0; i < count; ++i)
      out[begin - from + i] = static_cast<Value>(chunk[i]);
  }
}

} // namespace brew::caffe
