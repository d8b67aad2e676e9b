//===- WinogradVectors.inl - Registers of channels ------------------------===//
//
// Included by WinogradTransforms.inl: vector registers, and loads and stores of
// the weights of 3x3 windows.
//
//===----------------------------------------------------------------------===//

namespace brew::runtime::winograd {
namespace {

using Index = std::int64_t;
constexpr Index kLanes = BREW_WINOGRAD_LANES;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));
static_assert(kChannelStep % kLanes == 0);

/// For functions on a tile's values, which must stay in registers.
#define BREW_INLINE __attribute__((always_inline)) inline

BREW_INLINE Vector load(const float *from) {
  Vector result;
  __builtin_memcpy(&result, from, sizeof result);
  return result;
}
BREW_INLINE void store(float *to, Vector value) {
  __builtin_memcpy(to, &value, sizeof value);
}

using Eight = float __attribute__((vector_size(8 * sizeof(float))));

/// Selects elements: indices below kLanes are of `a`, the others of `b`. With
/// 16 lanes the second eight lanes are selected likewise.
#if BREW_WINOGRAD_LANES == 16
#define BREW_PICK(a, b, i, j, k, l, m, n, o, p)                                \
  __builtin_shufflevector(a, b, i, j, k, l, m, n, o, p, i + 8, j + 8, k + 8,   \
                          l + 8, m + 8, n + 8, o + 8, p + 8)
#else
#define BREW_PICK(a, b, i, j, k, l, m, n, o, p)                                \
  __builtin_shufflevector(a, b, i, j, k, l, m, n, o, p)
#endif
#define BREW_B BREW_WINOGRAD_LANES

/// Transposes an 8x8 matrix. With 16 lanes the second eight lanes are another
/// matrix.
BREW_INLINE void transpose(Vector *rows) {
  Vector pairs[8], fours[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    const Vector a = rows[i], b = rows[i + 1];
    pairs[i] =
        BREW_PICK(a, b, 0, BREW_B, 1, BREW_B + 1, 4, BREW_B + 4, 5, BREW_B + 5);
    pairs[i + 1] = BREW_PICK(a, b, 2, BREW_B + 2, 3, BREW_B + 3, 6, BREW_B + 6,
                             7, BREW_B + 7);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int from = i / 2 * 4 + i % 2;
    const Vector a = pairs[from], b = pairs[from + 2];
    fours[i / 2 * 4 + i % 2 * 2] =
        BREW_PICK(a, b, 0, 1, BREW_B, BREW_B + 1, 4, 5, BREW_B + 4, BREW_B + 5);
    fours[i / 2 * 4 + i % 2 * 2 + 1] = BREW_PICK(
        a, b, 2, 3, BREW_B + 2, BREW_B + 3, 6, 7, BREW_B + 6, BREW_B + 7);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Vector a = fours[i], b = fours[i + 4];
    rows[i] =
        BREW_PICK(a, b, 0, 1, 2, 3, BREW_B, BREW_B + 1, BREW_B + 2, BREW_B + 3);
    rows[i + 4] = BREW_PICK(a, b, 4, 5, 6, 7, BREW_B + 4, BREW_B + 5,
                            BREW_B + 6, BREW_B + 7);
  }
}

/// Loads the nine weights of each lane, which are contiguous in memory.
BREW_INLINE void loadNine(const float *from, Index laneStride, Vector *taps) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    Eight half;
    __builtin_memcpy(&half, from + i * laneStride, sizeof half);
#if BREW_WINOGRAD_LANES == 16
    Eight second;
    __builtin_memcpy(&second, from + (i + 8) * laneStride, sizeof second);
    taps[i] = __builtin_shufflevector(half, second, 0, 1, 2, 3, 4, 5, 6, 7, 8,
                                      9, 10, 11, 12, 13, 14, 15);
#else
    taps[i] = half;
#endif
  }
  transpose(taps);
#pragma GCC unroll 16
  for (int lane = 0; lane < kLanes; ++lane)
    taps[8][lane] = from[lane * laneStride + 8];
}

/// Stores the nine weights of each lane, or adds them.
BREW_INLINE void storeNine(Vector *taps, float *to, Index laneStride,
                           bool accumulate) {
  const Vector last = taps[8];
  transpose(taps);
#pragma GCC unroll 16
  for (int lane = 0; lane < kLanes; ++lane) {
    float *place = to + lane * laneStride;
    Eight value;
#if BREW_WINOGRAD_LANES == 16
    const Vector both = taps[lane % 8];
    value =
        lane < 8
            ? __builtin_shufflevector(both, both, 0, 1, 2, 3, 4, 5, 6, 7)
            : __builtin_shufflevector(both, both, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    value = taps[lane];
#endif
    float ninth = last[lane];
    if (accumulate) {
      Eight before;
      __builtin_memcpy(&before, place, sizeof before);
      value += before;
      ninth += place[8];
    }
    __builtin_memcpy(place, &value, sizeof value);
    place[8] = ninth;
  }
}

#undef BREW_B
#undef BREW_PICK

} // namespace
} // namespace brew::runtime::winograd
