//===- Prelude.cpp - Definitions before a kernel's function ---------------===//
#include "compiler/cuda/ScalarOps.h"

namespace brew::compiler::cuda {

std::string Prelude::text() const {
  std::string text = "#ifdef BREW_CUDASIM\n#include \"cudasim.h\"\n#else\n";
  if (f16)
    text += "#include <cuda_fp16.h>\n";
  if (bf16)
    text += "#include <cuda_bf16.h>\n";
  // Limits registers, since the stage that needs the most registers would leave
  // other stages too few threads to hide memory latency.
  const std::string minBlocks =
      stages ? ", " + std::to_string(residentThreads) + " / threads" : "";
  text += R"(#define BREW_KERNEL(name, threads) \
  extern "C" __global__ void __launch_bounds__(threads)" +
          minBlocks + ") name\n";
  text += R"(#define BREW_IN(type, name, count) const type *__restrict__ name
#define BREW_OUT(type, name, count) type *__restrict__ name
#define BREW_INOUT(type, name, count) type *name
#define BREW_SHARED(type, name, count) __shared__ type name[count]
#define BREW_SYNC() __syncthreads()
#define BREW_SYNC_WARP() __syncwarp()
#define BREW_SHUFFLE_XOR(value, mask) __shfl_xor_sync(0xffffffffu, value, mask)
#define BREW_SHUFFLE_DOWN(value, delta) \
  __shfl_down_sync(0xffffffffu, value, delta)
#define BREW_DEVICE static __device__ __forceinline__
template <typename T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) BrewVector {
  T values[n];
  __device__ T &operator[](int i) { return values[i]; }
  __device__ const T &operator[](int i) const { return values[i]; }
};
)";
  if (bf16)
    text +=
        R"(// An element of a pack. One instruction widens it, given its word.
struct BrewPackedBfloat16 {
  unsigned word;
  bool isHigh;
  __device__ operator __nv_bfloat16() const {
    return __ushort_as_bfloat16((unsigned short)(isHigh ? word >> 16 : word));
  }
};
BREW_DEVICE float __bfloat162float(BrewPackedBfloat16 x) {
  return __uint_as_float(x.isHigh ? x.word & 0xffff0000u : x.word << 16);
}
template <int n> struct alignas(2 * n) BrewVector<__nv_bfloat16, n> {
  __nv_bfloat16 values[n];
  __device__ __nv_bfloat16 &operator[](int i) { return values[i]; }
  __device__ BrewPackedBfloat16 operator[](int i) const {
    return {reinterpret_cast<const unsigned *>(values)[i / 2], i % 2 != 0};
  }
};
)";
  if (keepEqual)
    text += R"(// Bytes are loaded as words: the compiler would load each byte.
template <int n> struct BrewBytes {
  unsigned words[n / 4];
  __device__ unsigned char &operator[](int i) {
    return reinterpret_cast<unsigned char *>(words)[i];
  }
  __device__ unsigned char operator[](int i) const {
    return (unsigned char)(words[i / 4] >> i % 4 * 8);
  }
};
template <>
struct alignas(4) BrewVector<unsigned char, 4> : BrewBytes<4> {};
template <>
struct alignas(8) BrewVector<unsigned char, 8> : BrewBytes<8> {};
// Returns the values whose codes equal `code`, and zeros for the others, or
// only zeros if not `isValid`. If codes differ, the highest bit of their byte
// of `differs` is set.
template <typename T, int n>
BREW_DEVICE BrewVector<T, n> brewKeepEqual(
    const BrewVector<T, n> &values, const BrewVector<unsigned char, n> &codes,
    unsigned char code, bool isValid) {
  BrewVector<T, n> kept;
  const unsigned *from = reinterpret_cast<const unsigned *>(values.values);
  unsigned *to = reinterpret_cast<unsigned *>(kept.values);
  const unsigned carry = isValid ? 0x7f7f7f7fu : 0x80808080u;
  #pragma unroll
  for (int i = 0; i < n / 4; ++i) {
    const unsigned difference = codes.words[i] ^ code * 0x01010101u;
    const unsigned differs = ((difference & 0x7f7f7f7fu) + carry) | difference;
    to[2 * i] = from[2 * i] & ~__byte_perm(differs, 0u, 0x9988u);
    to[2 * i + 1] = from[2 * i + 1] & ~__byte_perm(differs, 0u, 0xbbaau);
  }
  return kept;
}
#define BREW_KEEP_EQUAL(values, codes, code, isValid) \
  brewKeepEqual(values, codes, code, isValid)
)";
  text += R"(#define BREW_VECTOR(type, n) BrewVector<type, n>
#define BREW_LOAD(pack, pointer, index) \
  (*reinterpret_cast<const pack *>((pointer) + (index)))
#define BREW_STORE(pack, pointer, index, value) \
  (*reinterpret_cast<pack *>((pointer) + (index)) = (value))
)";
  if (stages)
    text +=
        R"(// Stages use the same shared memory one after the other.
#define BREW_SHARED_POOL(name, bytes) \
  __shared__ __align__(16) unsigned char name[bytes]
#define BREW_SHARED_SLICE(type, name, count, pool, offset) \
  type *const name = reinterpret_cast<type *>((pool) + (offset))
#define BREW_STAGES(name) unsigned long long name
#define BREW_STAGE(stages, number) if ((stages) >> (number) & 1u)
#define BREW_BARRIER(name) static __device__ unsigned name[2]
// Waits for all blocks of the launch, which are resident together, and makes
// their writes visible: the fence of one thread includes the writes that
// __syncthreads orders before it. The first counter counts blocks and wraps to
// 0 for the next barrier; the second counts barriers.
BREW_DEVICE void brewStageBarrier(unsigned *barrier) {
  __syncthreads();
  if (threadIdx.x == 0u) {
    const volatile unsigned *met = barrier + 1;
    const unsigned before = *met;
    __threadfence();
    if (atomicInc(barrier, gridDim.x - 1u) == gridDim.x - 1u) {
      __threadfence();
      atomicAdd(barrier + 1, 1u);
    } else {
      while (*met == before) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}
#define BREW_STAGE_BARRIER(stages, number, barrier) \
  if (((stages) >> ((number) - 1) & 3u) == 3u) brewStageBarrier(barrier)
)";
  if (lastBlock)
    text +=
        R"(#define BREW_COUNTERS(name, count) static __device__ unsigned name[count]
// Bypasses the L1 cache, which does not see other blocks' writes.
#define BREW_LOAD_L2(name, index) __ldcg((name) + (index))
// Returns whether all other blocks of this counter have arrived, and makes
// their writes visible. The counter wraps to 0 for the next launch.
BREW_DEVICE bool brewLastBlock(unsigned *counter, unsigned blocks) {
  __shared__ bool isLast;
  __syncthreads();
  if (threadIdx.x == 0u) {
    __threadfence();
    isLast = atomicInc(counter, blocks - 1u) == blocks - 1u;
    __threadfence();
  }
  __syncthreads();
  return isLast;
}
#define BREW_LAST_BLOCK(counter, blocks) brewLastBlock(&(counter), blocks)
)";
  if (bits)
    text +=
        R"(// Sets a bit atomically: threads whose bits share a word must not race.
template <typename I>
BREW_DEVICE void brewSetBit(unsigned char *bits, I index, bool value) {
  unsigned *word = reinterpret_cast<unsigned *>(bits) + index / 32;
  const unsigned bit = 1u << index % 32;
  if (value)
    atomicOr(word, bit);
  else
    atomicAnd(word, ~bit);
}
#define BREW_SET_BIT(name, index, value) brewSetBit(name, index, value)
)";
  text += "#endif\n";
  if (helpers.empty())
    return text;
  text += "#ifndef BREW_DEVICE\n#define BREW_DEVICE static inline\n#endif\n";
  static const std::pair<const char *, const char *> definitions[] = {
      {"brewFloat", R"(BREW_DEVICE float brewFloat(unsigned bits) {
  union { unsigned bits; float value; } both = {bits};
  return both.value;
}
)"},
      {"brewDouble", R"(BREW_DEVICE double brewDouble(unsigned long long bits) {
  union { unsigned long long bits; double value; } both = {bits};
  return both.value;
}
)"},
      {"brewMaximum", R"(// Returns NaN if one of them is NaN.
template <typename T> BREW_DEVICE T brewMaximum(T a, T b) {
  return a != a || a > b ? a : b;
}
)"},
      {"brewMinimum", R"(// Returns NaN if one of them is NaN.
template <typename T> BREW_DEVICE T brewMinimum(T a, T b) {
  return a != a || a < b ? a : b;
}
)"},
      {"brewFloorDivide",
       R"(template <typename T> BREW_DEVICE T brewFloorDivide(T a, T b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)"},
      {"brewFirstPosition",
       R"(// Returns the first of two positions from 1 on; 0: no position.
BREW_DEVICE int brewFirstPosition(int a, int b) {
  return (unsigned)(a - 1) < (unsigned)(b - 1) ? a : b;
}
)"}};
  for (auto [name, definition] : definitions)
    if (helpers.count(name))
      text += definition;
  return text;
}

} // namespace brew::compiler::cuda
