//===- Lanes.h - Sixteen floats at a time -----------------------*- C++ -*-===//
//
// The library is compiled for any x86-64, and the sums of an embedding are most
// of its time: such a loop is written once on vectors of the compiler's and
// compiled for three processors, of which the first call chooses one.
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

/// Inlined into functions for other processors, whose instructions it takes.
#define BREW_EMBED_INLINE inline __attribute__((always_inline))

/// The sixteen floats that begin at `from`, which need not be aligned. A macro:
/// functions that return vectors are called differently on each processor.
#define BREW_EMBED_LOAD(from)                                                  \
  (*reinterpret_cast<const brew::embedding::UnalignedLanes *>(from))

/// Defines `result name(parameters)`, which is `body arguments` compiled for
/// the processor at hand; both lists are parenthesised.
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

/// The sum in an order of its own: halves on halves.
BREW_EMBED_INLINE float sumOf(const Lanes &lanes) {
  float part[kLanes];
  std::memcpy(part, &lanes, sizeof part);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i)
      part[i] += part[i + width];
  return part[0];
}

} // namespace brew::embedding
