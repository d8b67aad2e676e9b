//===- Half.h - __half and __nv_bfloat16 on the host ------------*- C++ -*-===//
//
// Operations compute in f32 and round. For + - * / this is the correctly
// rounded result, as on the device.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_HALF_H
#define CUDASIM_HALF_H

#include "HalfBits.h"
#include "Math.h"

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
