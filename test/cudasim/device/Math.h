//===- Math.h - CUDA's mathematical functions on the host -------*- C++ -*-===//
//
// The C library has most of these functions under the same names. Images are
// compiled with -nostdinc++, so <math.h> is C's header, which is fast to parse.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_MATH_H
#define CUDASIM_MATH_H

#include "Context.h"

#include <math.h>

#undef isnan
#undef isinf
#undef isfinite
#undef signbit
// NVRTC lacks these macros, so texts that use them must not compile here.
#undef INFINITY
#undef NAN
#undef HUGE_VAL
#undef HUGE_VALF

#define CUDASIM_MATH static CUDASIM_INLINE __attribute__((unused))

#define CUDASIM_CLASSIFY(type)                                                 \
  CUDASIM_MATH bool isnan(type x) { return __builtin_isnan(x); }               \
  CUDASIM_MATH bool isinf(type x) { return __builtin_isinf(x); }               \
  CUDASIM_MATH bool isfinite(type x) { return __builtin_isfinite(x); }         \
  CUDASIM_MATH bool signbit(type x) { return __builtin_signbit(x); }
CUDASIM_CLASSIFY(float)
CUDASIM_CLASSIFY(double)
#undef CUDASIM_CLASSIFY

#define CUDASIM_MIN_MAX(type)                                                  \
  CUDASIM_MATH type min(type a, type b) { return b < a ? b : a; }              \
  CUDASIM_MATH type max(type a, type b) { return a < b ? b : a; }
CUDASIM_MIN_MAX(int)
CUDASIM_MIN_MAX(unsigned)
CUDASIM_MIN_MAX(long long)
CUDASIM_MIN_MAX(unsigned long long)
#undef CUDASIM_MIN_MAX
CUDASIM_MATH float min(float a, float b) { return fminf(a, b); }
CUDASIM_MATH float max(float a, float b) { return fmaxf(a, b); }
CUDASIM_MATH double min(double a, double b) { return fmin(a, b); }
CUDASIM_MATH double max(double a, double b) { return fmax(a, b); }

CUDASIM_MATH float rsqrtf(float x) { return 1.0f / sqrtf(x); }
CUDASIM_MATH double rsqrt(double x) { return 1.0 / sqrt(x); }
CUDASIM_MATH float rcbrtf(float x) { return 1.0f / cbrtf(x); }
CUDASIM_MATH double rcbrt(double x) { return 1.0 / cbrt(x); }
CUDASIM_MATH float fdividef(float a, float b) { return a / b; }
CUDASIM_MATH float saturatef(float x) { return fmaxf(0.0f, fminf(x, 1.0f)); }

// Intrinsics with an explicit rounding mode, which are never contracted.
CUDASIM_MATH float __fadd_rn(float a, float b) { return a + b; }
CUDASIM_MATH float __fsub_rn(float a, float b) { return a - b; }
CUDASIM_MATH float __fmul_rn(float a, float b) { return a * b; }
CUDASIM_MATH float __fdiv_rn(float a, float b) { return a / b; }
CUDASIM_MATH float __fsqrt_rn(float a) { return sqrtf(a); }
CUDASIM_MATH float __frcp_rn(float a) { return 1.0f / a; }
CUDASIM_MATH float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
CUDASIM_MATH double __dadd_rn(double a, double b) { return a + b; }
CUDASIM_MATH double __dmul_rn(double a, double b) { return a * b; }
CUDASIM_MATH double __ddiv_rn(double a, double b) { return a / b; }
CUDASIM_MATH double __fma_rn(double a, double b, double c) {
  return fma(a, b, c);
}

template <class To, class From> CUDASIM_MATH To cudasim_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the types differ in size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}
CUDASIM_MATH int __float_as_int(float x) { return cudasim_bits<int>(x); }
CUDASIM_MATH unsigned __float_as_uint(float x) {
  return cudasim_bits<unsigned>(x);
}
CUDASIM_MATH float __int_as_float(int x) { return cudasim_bits<float>(x); }
CUDASIM_MATH float __uint_as_float(unsigned x) {
  return cudasim_bits<float>(x);
}
CUDASIM_MATH long long __double_as_longlong(double x) {
  return cudasim_bits<long long>(x);
}
CUDASIM_MATH double __longlong_as_double(long long x) {
  return cudasim_bits<double>(x);
}
CUDASIM_MATH int __float2int_rn(float x) { return (int)rintf(x); }
CUDASIM_MATH int __float2int_rz(float x) { return (int)x; }
CUDASIM_MATH int __float2int_rd(float x) { return (int)floorf(x); }

CUDASIM_MATH int __popc(unsigned x) { return __builtin_popcount(x); }
CUDASIM_MATH int __clz(int x) { return x ? __builtin_clz(x) : 32; }
CUDASIM_MATH int __ffs(int x) { return __builtin_ffs(x); }
CUDASIM_MATH unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
CUDASIM_MATH unsigned long long __umul64hi(unsigned long long a,
                                           unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#endif // CUDASIM_MATH_H
