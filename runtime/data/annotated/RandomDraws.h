//===- RandomDraws.h - Random numbers of one record -------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"

namespace brew::runtime {

/// A sequence of random numbers that depends only on the stream and the
/// record's number.
class RandomDraws {
public:
  RandomDraws(const caffe::RandomStream &stream, std::uint64_t record)
      : stream(stream), next(record << kDrawBits) {}

  float uniform(float from, float to) {
    return from + static_cast<float>(stream.uniform(next++)) * (to - from);
  }
  /// Draws an integer from 0 to `limit` - 1.
  std::uint64_t below(std::uint64_t limit) {
    return stream.below(next++, limit);
  }

private:
  /// Bits of the draw number: enough for all draws of a record.
  static constexpr unsigned kDrawBits = 24;

  const caffe::RandomStream &stream;
  std::uint64_t next;
};

} // namespace brew::runtime
