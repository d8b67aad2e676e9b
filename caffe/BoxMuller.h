//===- BoxMuller.h - Normal numbers from uniform numbers --------*- C++ -*-===//
//
// The Box-Muller transform with its own logarithm and cosine. They consist of
// IEEE operations without branches: compilers vectorise loops over them, and a
// loop of any vector width has the same bits as single calls. Files that
// include this header must be compiled with -ffp-contract=off, because fused
// multiply-adds round differently.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

/// Inlines a function, so that it uses the instruction set of its caller.
#define BREW_ALWAYS_INLINE inline __attribute__((always_inline))

namespace brew::caffe {

BREW_ALWAYS_INLINE std::uint64_t bitsOf(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

BREW_ALWAYS_INLINE double fromBits(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Returns ln(x) for a normal number x > 0, with an error below 1 ulp.
///
/// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f) and
/// R = 2 (s^2/3 + s^4/5 + ...), ln(1 + f) = 2 atanh(s) = 2 s + s R. This equals
/// f - (f^2/2 - s (f^2/2 + R)), which rounds less (as in FreeBSD's e_log.c).
/// |s| < 0.1716, so the first omitted term of R, 2 s^22/23, is below 2^-59.
BREW_ALWAYS_INLINE double naturalLogarithm(double x) {
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD; // bits of sqrt(1/2)
  constexpr std::uint64_t kOne = 0x3FF0000000000000;      // bits of 1.0
  constexpr std::uint64_t kMantissa = 0x000FFFFFFFFFFFFF;
  // ln(2), split so that e * kLn2High is exact.
  constexpr double kLn2High = 0x1.62e42fefa38p-1;
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;

  const std::uint64_t shifted = bitsOf(x) + (kOne - kSqrtHalf);
  // For an integer n < 2^52, the bits of 2^52 with n added are those of the
  // number 2^52 + n.
  const double exponent =
      fromBits(0x4330000000000000 | shifted >> 52) - (0x1p52 + 1023);
  const double f = fromBits((shifted & kMantissa) + kSqrtHalf) - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  double r = 2.0 / 21;
  r = r * z + 2.0 / 19;
  r = r * z + 2.0 / 17;
  r = r * z + 2.0 / 15;
  r = r * z + 2.0 / 13;
  r = r * z + 2.0 / 11;
  r = r * z + 2.0 / 9;
  r = r * z + 2.0 / 7;
  r = r * z + 2.0 / 5;
  r = r * z + 2.0 / 3;
  const double halfSquare = 0.5 * f * f;
  return exponent * kLn2High -
         ((halfSquare - (s * (halfSquare + r * z) + exponent * kLn2Low)) - f);
}

/// Returns cos(2 pi v) for a multiple v of 2^-53 in [0, 1], with an error below
/// 2.5 ulps.
///
/// cos(2 pi v) = sin(2 pi t), where t = |v - 1/2| - 1/4 in [-1/4, 1/4] is
/// exact. The first term omitted from the Taylor series of sin(x), x^23/23!, is
/// below 2^-59.
BREW_ALWAYS_INLINE double cosineOfTurns(double v) {
  const double t = std::fabs(v - 0.5) - 0.25;
  const double x = 0x1.921fb54442d18p+2 * t; // 2 pi t
  const double z = x * x;
  double p = 1 / 51090942171709440000.0; // 1/21!
  p = p * z - 1 / 121645100408832000.0;  // 1/19!
  p = p * z + 1 / 355687428096000.0;     // 1/17!
  p = p * z - 1 / 1307674368000.0;       // 1/15!
  p = p * z + 1 / 6227020800.0;          // 1/13!
  p = p * z - 1 / 39916800.0;            // 1/11!
  p = p * z + 1 / 362880.0;              // 1/9!
  p = p * z - 1 / 5040.0;                // 1/7!
  p = p * z + 1 / 120.0;                 // 1/5!
  p = p * z - 1 / 6.0;                   // 1/3!
  return x + x * z * p;
}

/// Returns a standard normal number for independent uniform numbers u and v in
/// [0, 1) with 53 bits.
BREW_ALWAYS_INLINE double boxMuller(double u, double v) {
  // 1 - u is in (0, 1], where the logarithm is finite.
  return std::sqrt(-2.0 * naturalLogarithm(1.0 - u)) * cosineOfTurns(v);
}

} // namespace brew::caffe
