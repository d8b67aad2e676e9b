//===- RandomStream.h - Counter-based random numbers ------------*- C++ -*-===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). The i-th draw of a stream depends on (seed, stream, i) only, so any
// number of threads can compute fillers, readers can resume from a counter, and
// streams never influence each other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace brew::caffe {

/// One block of the generator: four independent 32-bit words.
using RandomBlock = std::array<std::uint32_t, 4>;

/// Returns the Philox4x32-10 block for a counter and a key.
RandomBlock philox(RandomBlock counter, std::array<std::uint32_t, 2> key);

/// The sequence of random blocks for a seed and a name.
class RandomStream {
public:
  /// `name` distinguishes streams, e.g. "filler conv1/0".
  RandomStream(std::uint64_t seed, std::string_view name);

  /// Returns the block at position `index`.
  RandomBlock block(std::uint64_t index) const;
  /// Returns a number uniform in [0, 1) with 53 random bits; uses words 0 and 1
  /// of the block.
  double uniform(std::uint64_t index) const;
  /// Returns a standard normal number; uses all words of the block.
  double gaussian(std::uint64_t index) const;
  /// Writes uniform(first + i) to out[i] for each i below `count`. Uses vector
  /// instructions, which do not change the bits.
  void fillUniform(std::uint64_t first, std::size_t count, double *out) const;
  /// Writes gaussian(first + i) to out[i] for each i below `count`. Uses vector
  /// instructions, which do not change the bits.
  void fillGaussian(std::uint64_t first, std::size_t count, double *out) const;
  /// Returns an integer uniform in [0, limit), limit > 0. Scales 64 random
  /// bits, so the bias is negligible.
  std::uint64_t below(std::uint64_t index, std::uint64_t limit) const;

private:
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 2> stream;
};

} // namespace brew::caffe
