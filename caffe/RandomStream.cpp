//===- RandomStream.cpp - Counter-based random numbers --------------------===//

#include "caffe/RandomStream.h"

#include "caffe/BoxMuller.h"

#include <algorithm>

namespace brew::caffe {
namespace {

/// Returns the FNV-1a hash of a stream's name, one half of the counter.
std::uint64_t hashName(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ull;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 1099511628211ull;
  return hash;
}

/// Returns a number in [0, 1) with the upper 53 of 64 bits.
BREW_ALWAYS_INLINE double toUnitInterval(std::uint64_t high,
                                         std::uint64_t low) {
  return static_cast<double>(high << 21 | low >> 11) * 0x1p-53;
}

using Words = std::array<std::uint32_t, 2>;
/// A RandomBlock in 64-bit words with upper halves of 0, because vector
/// instructions multiply 32-bit numbers in 64-bit lanes.
using WideBlock = std::array<std::uint64_t, 4>;

BREW_ALWAYS_INLINE WideBlock widePhilox(WideBlock counter, Words key) {
  constexpr std::uint64_t kLowHalf = 0xFFFFFFFF;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = 0xD2511F53 * counter[0];
    const std::uint64_t right = 0xCD9E8D57 * counter[2];
    counter = {right >> 32 ^ counter[1] ^ key[0], right & kLowHalf,
               left >> 32 ^ counter[3] ^ key[1], left & kLowHalf};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// The positions [first, first + count) of a stream.
struct StreamRange {
  Words key, stream;
  std::uint64_t first;
  std::size_t count;

  WideBlock block(std::size_t i) const;
};

BREW_ALWAYS_INLINE WideBlock StreamRange::block(std::size_t i) const {
  const std::uint64_t index = first + i;
  return widePhilox(
      {static_cast<std::uint32_t>(index), index >> 32, stream[0], stream[1]},
      key);
}

enum class Distribution { Uniform, Gaussian };

BREW_ALWAYS_INLINE void fillUniformLanes(const StreamRange &range,
                                         double *out) {
  for (std::size_t i = 0; i < range.count; ++i) {
    const WideBlock b = range.block(i);
    out[i] = toUnitInterval(b[0], b[1]);
  }
}

BREW_ALWAYS_INLINE void fillGaussianLanes(const StreamRange &range,
                                          double *out) {
  constexpr std::size_t kChunk = 256;
  double u[kChunk], v[kChunk];
  for (std::size_t begin = 0; begin < range.count; begin += kChunk) {
    const std::size_t length = std::min(kChunk, range.count - begin);
    for (std::size_t i = 0; i < length; ++i) {
      const WideBlock b = range.block(begin + i);
      u[i] = toUnitInterval(b[0], b[1]);
      v[i] = toUnitInterval(b[2], b[3]);
    }
    for (std::size_t i = 0; i < length; ++i)
      out[begin + i] = boxMuller(u[i], v[i]);
  }
}

BREW_ALWAYS_INLINE void fillLanes(Distribution distribution,
                                  const StreamRange &range, double *out) {
  if (distribution == Distribution::Uniform)
    fillUniformLanes(range, out);
  else
    fillGaussianLanes(range, out);
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq"))) void
fillAvx512(Distribution distribution, const StreamRange &range, double *out) {
  fillLanes(distribution, range, out);
}

__attribute__((target("avx2"))) void
fillAvx2(Distribution distribution, const StreamRange &range, double *out) {
  fillLanes(distribution, range, out);
}
#endif

/// Fills with the widest vectors of the processor. The bits do not depend on
/// the width, because no variant fuses multiplications and additions.
void fill(Distribution distribution, const StreamRange &range, double *out) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512dq"))
    return fillAvx512(distribution, range, out);
  if (__builtin_cpu_supports("avx2"))
    return fillAvx2(distribution, range, out);
#endif
  fillLanes(distribution, range, out);
}

} // namespace

RandomBlock philox(RandomBlock counter, std::array<std::uint32_t, 2> key) {
  const WideBlock b =
      widePhilox({counter[0], counter[1], counter[2], counter[3]}, key);
  return {static_cast<std::uint32_t>(b[0]), static_cast<std::uint32_t>(b[1]),
          static_cast<std::uint32_t>(b[2]), static_cast<std::uint32_t>(b[3])};
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = hashName(name);
  key = {static_cast<std::uint32_t>(seed),
         static_cast<std::uint32_t>(seed >> 32)};
  stream = {static_cast<std::uint32_t>(hash),
            static_cast<std::uint32_t>(hash >> 32)};
}

RandomBlock RandomStream::block(std::uint64_t index) const {
  return philox({static_cast<std::uint32_t>(index),
                 static_cast<std::uint32_t>(index >> 32), stream[0], stream[1]},
                key);
}

double RandomStream::uniform(std::uint64_t index) const {
  RandomBlock b = block(index);
  return toUnitInterval(b[0], b[1]);
}

double RandomStream::gaussian(std::uint64_t index) const {
  RandomBlock b = block(index);
  return boxMuller(toUnitInterval(b[0], b[1]), toUnitInterval(b[2], b[3]));
}

void RandomStream::fillUniform(std::uint64_t first, std::size_t count,
                               double *out) const {
  fill(Distribution::Uniform, {key, stream, first, count}, out);
}

void RandomStream::fillGaussian(std::uint64_t first, std::size_t count,
                                double *out) const {
  fill(Distribution::Gaussian, {key, stream, first, count}, out);
}

std::uint64_t RandomStream::below(std::uint64_t index,
                                  std::uint64_t limit) const {
  RandomBlock b = block(index);
  unsigned __int128 bits = std::uint64_t(b[0]) << 32 | b[1];
  return static_cast<std::uint64_t>((bits * limit) >> 64);
}

} // namespace brew::caffe
