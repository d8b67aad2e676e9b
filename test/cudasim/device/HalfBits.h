//===- HalfBits.h - Conversions between f32, f16 and bf16 -------*- C++ -*-===//
//
// Conversions from f32 round to nearest even. They return 0x7fff for NaNs, as
// CUDA does.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_HALF_BITS_H
#define CUDASIM_HALF_BITS_H

#include "Context.h"

namespace cudasim {

CUDASIM_INLINE unsigned floatBits(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}
CUDASIM_INLINE float floatFromBits(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

CUDASIM_INLINE unsigned short halfFromFloat(float value) {
  unsigned bits = floatBits(value);
  unsigned sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return 0x7fff;
  if (bits >= 0x477ff000)
    return sign | 0x7c00; // rounds beyond 65504
  if (bits < 0x38800000) {
    // Subnormal: adding 0.5 rounds the result into the last bits.
    return sign | (floatBits(floatFromBits(bits) + 0.5f) - 0x3f000000);
  }
  bits += 0xfff + (bits >> 13 & 1);
  return sign | (bits - 0x38000000) >> 13;
}

CUDASIM_INLINE float floatFromHalf(unsigned short half) {
  unsigned sign = (half & 0x8000u) << 16, magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return floatFromBits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400) // subnormal: a multiple of 2^-24
    return floatFromBits(sign | floatBits(magnitude * 0x1p-24f));
  return floatFromBits(sign | ((magnitude << 13) + 0x38000000));
}

CUDASIM_INLINE unsigned short bfloatFromFloat(float value) {
  unsigned bits = floatBits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

CUDASIM_INLINE float floatFromBfloat(unsigned short bits) {
  return floatFromBits((unsigned)bits << 16);
}

} // namespace cudasim

#endif // CUDASIM_HALF_BITS_H
