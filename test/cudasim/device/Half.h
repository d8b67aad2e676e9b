//===- Half.h - __half and __nv_bfloat16 on the host ------------*- C++ -*-===//
//
// Conversions round to nearest even. Arithmetic is done in f32 and rounded,
// which for + - * / is the correctly rounded result, as on the device.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_HALF_H
#define CUDASIM_HALF_H

#include "Math.h"

namespace cudasim {

CUDASIM_MATH unsigned short halfFromFloat(float value) {
  unsigned bits = __float_as_uint(value);
  unsigned sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return 0x7fff; // CUDA's NaN
  if (bits >= 0x477ff000)
    return sign | 0x7c00; // rounds beyond 65504
  if (bits < 0x38800000) {
    // Subnormal: adding 0.5 leaves the result in the last bits, rounded.
    return sign | (__float_as_uint(__uint_as_float(bits) + 0.5f) - 0x3f000000);
  }
  bits += 0xfff + (bits >> 13 & 1);
  return sign | (bits - 0x38000000) >> 13;
}

CUDASIM_MATH float floatFromHalf(unsigned short half) {
  unsigned sign = (half & 0x8000u) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00)
    return __uint_as_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest < 0x400) // subnormal: a multiple of 2^-24
    return __uint_as_float(sign | __float_as_uint(rest * 0x1p-24f));
  return __uint_as_float(sign | ((rest << 13) + 0x38000000));
}

CUDASIM_MATH unsigned short bfloatFromFloat(float value) {
  unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff; // CUDA's NaN
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

CUDASIM_MATH float floatFromBfloat(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}

} // namespace cudasim

#define CUDASIM_SMALL_FLOAT(type, toBits, toFloat)                             \
  struct type {                                                                \
    unsigned short bits;                                                       \
    type() = default;                                                          \
    CUDASIM_INLINE type(float value) : bits(cudasim::toBits(value)) {}         \
    CUDASIM_INLINE operator float() const { return cudasim::toFloat(bits); }   \
  };                                                                           \
  CUDASIM_MATH type operator+(type a, type b) { return float(a) + float(b); }  \
  CUDASIM_MATH type operator-(type a, type b) { return float(a) - float(b); }  \
  CUDASIM_MATH type operator*(type a, type b) { return float(a) * float(b); }  \
  CUDASIM_MATH type operator/(type a, type b) { return float(a) / float(b); }  \
  CUDASIM_MATH type operator-(type a) {                                        \
    a.bits ^= 0x8000;                                                          \
    return a;                                                                  \
  }
CUDASIM_SMALL_FLOAT(__half, halfFromFloat, floatFromHalf)
CUDASIM_SMALL_FLOAT(__nv_bfloat16, bfloatFromFloat, floatFromBfloat)
#undef CUDASIM_SMALL_FLOAT
using half = __half;
using nv_bfloat16 = __nv_bfloat16;

CUDASIM_MATH __half __float2half(float x) { return x; }
CUDASIM_MATH __half __float2half_rn(float x) { return x; }
CUDASIM_MATH float __half2float(__half x) { return x; }
CUDASIM_MATH __nv_bfloat16 __float2bfloat16(float x) { return x; }
CUDASIM_MATH __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
CUDASIM_MATH float __bfloat162float(__nv_bfloat16 x) { return x; }
CUDASIM_MATH unsigned short __half_as_ushort(__half x) { return x.bits; }
CUDASIM_MATH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
CUDASIM_MATH __half __ushort_as_half(unsigned short x) {
  return cudasim_bits<__half>(x);
}
CUDASIM_MATH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  return cudasim_bits<__nv_bfloat16>(x);
}

#endif // CUDASIM_HALF_H
