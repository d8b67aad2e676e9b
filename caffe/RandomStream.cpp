//===- RandomStream.cpp - Counter-based random numbers --------------------===//

#include "caffe/RandomStream.h"

#include <cmath>

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
double toUnitInterval(std::uint32_t high, std::uint32_t low) {
  std::uint64_t bits = (std::uint64_t(high) << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

} // namespace

RandomBlock philox(RandomBlock counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t left = std::uint64_t(0xD2511F53u) * counter[0];
    std::uint64_t right = std::uint64_t(0xCD9E8D57u) * counter[2];
    counter = {static_cast<std::uint32_t>(right >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(right),
               static_cast<std::uint32_t>(left >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(left)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
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
  // Box-Muller; 1 - u is in (0, 1], where the logarithm is finite.
  double radius = std::sqrt(-2.0 * std::log(1.0 - toUnitInterval(b[0], b[1])));
  return radius * std::cos(6.283185307179586477 * toUnitInterval(b[2], b[3]));
}

std::uint64_t RandomStream::below(std::uint64_t index,
                                  std::uint64_t limit) const {
  RandomBlock b = block(index);
  unsigned __int128 bits = std::uint64_t(b[0]) << 32 | b[1];
  return static_cast<std::uint64_t>((bits * limit) >> 64);
}

} // namespace brew::caffe
