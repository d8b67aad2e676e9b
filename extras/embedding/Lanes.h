//===- Lanes.h - SIMD vectors of sixteen floats -----------------*- C++ -*-===//
//
// The library is compiled for the x86-64 baseline, but an embedding spends most
// of its time in sums. The loops are therefore written once with the compiler's
// vector types and compiled for three instruction sets; the first call selects
// one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstring>

namespace brew::embedding {

inline constexpr int kLanes = 16;
typedef float Lanes __attribute__((vector_size(64)));
typedef float UnalignedLanes
    __attribute__((vector_size(64), aligned(4), may_alias));

/// Inlines a function, so that it uses the instruction set of its caller.
#define BREW_EMBED_INLINE inline __attribute__((always_inline))

/// Loads sixteen floats from `from`, which may be unaligned. This is a macro
/// because the ABI of functions that return vectors depends on the instruction
/// set.
#define BREW_EMBED_LOAD(from)                                                  \
  (*reinterpret_cast<const brew::embedding::UnalignedLanes *>(from))

/// Defines `result name(parameters)`, which returns `body arguments` compiled
/// for the current processor. Both lists are parenthesised.
#if defined(__x86_64__)
#define BREW_EMBED_FOR_PROCESSORS(result, name, parameters, body, arguments)   \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,avx2")))       \
  result name##Avx512 parameters {                                             \
    return body arguments;                                                     \
  }                                                                            \
  __attribute__((target("avx2,fma"))) result name##Avx2 parameters {           \
    return body arguments;                                                     \
  }                                                                            \
  result name##Any parameters { return body arguments; }                       \
  result name parameters {                                                     \
    static const auto chosen =                                                 \
        __builtin_cpu_supports("avx512f") &&                                   \
                __builtin_cpu_supports("avx512vl") &&                          \
                __builtin_cpu_supports("avx512bw") &&                          \
                __builtin_cpu_supports("avx512dq")                             \
            ? name##Avx512                                                     \
        : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")      \
            ? name##Avx2                                                       \
            : name##Any;                                                       \
    return chosen arguments;                                                   \
  }
#else
#define BREW_EMBED_FOR_PROCESSORS(result, name, parameters, body, arguments)   \
  result name parameters { return body arguments; }
#endif

/// Returns the sum of the lanes, computed by pairwise halving.
BREW_EMBED_INLINE float sumOf(const Lanes &lanes) {
  float sums[kLanes];
  std::memcpy(sums, &lanes, sizeof sums);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i)
      sums[i] += sums[i + width];
  return sums[0];
}

} // namespace brew::embedding
