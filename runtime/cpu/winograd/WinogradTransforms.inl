//===- WinogradTransforms.inl - Transforms for one instruction set --------===//
//
// Included by one file for each instruction set, which is compiled for it and
// defines BREW_WINOGRAD_LANES, the number of floats in a register. Everything
// is in an anonymous namespace and does not use the standard library, so that
// the linker cannot replace a function of another file by one compiled for an
// instruction set that the machine lacks.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/winograd/WinogradTransforms.h"

#include "runtime/cpu/winograd/WinogradVectors.inl"

namespace brew::runtime::winograd {
namespace {

/// The transforms along one dimension. `in` and `out` do not overlap.
template <int M> struct Line;

template <> struct Line<2> {
  static BREW_INLINE void input(const Vector *x, Vector *out) {
    out[0] = x[0] - x[2];
    out[1] = x[1] + x[2];
    out[2] = x[2] - x[1];
    out[3] = x[1] - x[3];
  }
  static BREW_INLINE void output(const Vector *m, Vector *out) {
    out[0] = m[0] + m[1] + m[2];
    out[1] = m[1] - m[2] - m[3];
  }
  static BREW_INLINE void weights(const Vector *w, Vector *out) {
    const Vector even = 0.5f * (w[0] + w[2]), odd = 0.5f * w[1];
    out[0] = w[0];
    out[1] = even + odd;
    out[2] = even - odd;
    out[3] = w[2];
  }
  static BREW_INLINE void outputGradient(const Vector *d, Vector *out) {
    out[0] = d[0];
    out[1] = d[0] + d[1];
    out[2] = d[0] - d[1];
    out[3] = -d[1];
  }
  static BREW_INLINE void weightsGradient(const Vector *m, Vector *out) {
    const Vector even = 0.5f * (m[1] + m[2]);
    out[0] = m[0] + even;
    out[1] = 0.5f * (m[1] - m[2]);
    out[2] = even + m[3];
  }
};

template <> struct Line<4> {
  // Points 0, +-a, +-b, infinity; a * b = 1 shortens the factors.
  static constexpr double a = 2.0 / 3, b = 3.0 / 2, a2 = a * a, b2 = b * b;
  static constexpr double na = 1 / (2 * a2 * (a2 - b2)),
                          nb = 1 / (2 * b2 * (b2 - a2));
  static constexpr float f(double value) { return static_cast<float>(value); }

  static BREW_INLINE void input(const Vector *x, Vector *out) {
    const Vector evenA = x[4] - f(b2) * x[2], oddA = f(a) * x[3] - f(b) * x[1];
    const Vector evenB = x[4] - f(a2) * x[2], oddB = f(b) * x[3] - f(a) * x[1];
    out[0] = x[0] - f(a2 + b2) * x[2] + x[4];
    out[1] = evenA + oddA;
    out[2] = evenA - oddA;
    out[3] = evenB + oddB;
    out[4] = evenB - oddB;
    out[5] = x[1] - f(a2 + b2) * x[3] + x[5];
  }
  static BREW_INLINE void output(const Vector *m, Vector *out) {
    const Vector evenA = m[1] + m[2], oddA = m[1] - m[2];
    const Vector evenB = m[3] + m[4], oddB = m[3] - m[4];
    out[0] = m[0] + evenA + evenB;
    out[1] = f(a) * oddA + f(b) * oddB;
    out[2] = f(a2) * evenA + f(b2) * evenB;
    out[3] = f(a2 * a) * oddA + f(b2 * b) * oddB + m[5];
  }
  static BREW_INLINE void weights(const Vector *w, Vector *out) {
    const Vector evenA = f(na) * w[0] + f(na * a2) * w[2],
                 oddA = f(na * a) * w[1];
    const Vector evenB = f(nb) * w[0] + f(nb * b2) * w[2],
                 oddB = f(nb * b) * w[1];
    out[0] = w[0];
    out[1] = evenA + oddA;
    out[2] = evenA - oddA;
    out[3] = evenB + oddB;
    out[4] = evenB - oddB;
    out[5] = w[2];
  }
  static BREW_INLINE void outputGradient(const Vector *d, Vector *out) {
    const Vector evenA = d[0] + f(a2) * d[2],
                 oddA = f(a) * d[1] + f(a2 * a) * d[3];
    const Vector evenB = d[0] + f(b2) * d[2],
                 oddB = f(b) * d[1] + f(b2 * b) * d[3];
    out[0] = d[0];
    out[1] = evenA + oddA;
    out[2] = evenA - oddA;
    out[3] = evenB + oddB;
    out[4] = evenB - oddB;
    out[5] = d[3];
  }
  static BREW_INLINE void weightsGradient(const Vector *m, Vector *out) {
    const Vector evenA = m[1] + m[2], oddA = m[1] - m[2];
    const Vector evenB = m[3] + m[4], oddB = m[3] - m[4];
    out[0] = m[0] + f(na) * evenA + f(nb) * evenB;
    out[1] = f(na * a) * oddA + f(nb * b) * oddB;
    out[2] = f(na * a2) * evenA + f(nb * b2) * evenB + m[5];
  }
};

using LineFunction = void (*)(const Vector *, Vector *);

/// Applies `line` along both dimensions. Transforms From x From values to To x
/// To values, both row-major.
template <int From, int To, LineFunction line>
BREW_INLINE void alongBothAxes(const Vector *in, Vector *out) {
  Vector half[From * To]; // by columns of `in`
#pragma GCC unroll 6
  for (int column = 0; column < From; ++column) {
    Vector values[From];
    for (int row = 0; row < From; ++row)
      values[row] = in[row * From + column];
    line(values, half + column * To);
  }
#pragma GCC unroll 6
  for (int row = 0; row < To; ++row) {
    Vector values[From];
    for (int column = 0; column < From; ++column)
      values[column] = half[column * To + row];
    line(values, out + row * To);
  }
}

/// The addresses of a tile's values: channel c of value i is at
/// data[i][c * step[i]]. Values outside of the image point to zeros with step
/// 0.
template <int Side> struct Window {
  const float *data[Side * Side];
  Index step[Side * Side];

  Window(const Images &pixels, Index image, Index top, Index left) {
    alignas(64) static const float zeros[kLanes] = {};
    for (Index row = 0; row < Side; ++row)
      for (Index column = 0; column < Side; ++column) {
        const Index y = top + row, x = left + column, i = row * Side + column;
        const bool isInside =
            y >= 0 && y < pixels.height && x >= 0 && x < pixels.width;
        data[i] = isInside ? pixels.data + image * pixels.imageStride +
                                 y * pixels.rowStride + x * pixels.columnStride
                           : zeros;
        step[i] = isInside;
      }
  }
};

/// Returns whether the weights of a pair of channels are contiguous, in order
/// or reversed.
bool liesDense(const Weights &w) {
  return (w.columnStride == 1 || w.columnStride == -1) &&
         w.rowStride == 3 * w.columnStride;
}

struct Tile {
  Index image, row, column;

  Tile(const TileGrid &grid, Index number)
      : image(number / (grid.rows * grid.columns)),
        row(number / grid.columns % grid.rows), column(number % grid.columns) {}
};

template <int M>
void input(const Images &x, Index top, Index left, const TileRange &tiles,
           const Matrices &to) {
  constexpr int side = M + 2;
  for (Index t = tiles.begin; t < tiles.end; ++t) {
    const Tile tile(tiles.grid, t);
    const Window<side> window(x, tile.image, tile.row * M - top,
                              tile.column * M - left);
    float *row = to.data + (t - tiles.first) * to.columns;
    for (Index c = 0; c < x.channels; c += kLanes) {
      Vector values[side * side], sums[side * side];
      for (int i = 0; i < side * side; ++i)
        values[i] = load(window.data[i] + c * window.step[i]);
      alongBothAxes<side, side, Line<M>::input>(values, sums);
      for (int i = 0; i < side * side; ++i)
        store(row + i * to.stride + c, sums[i]);
    }
  }
}

template <int M>
void output(const Matrices &from, const TileRange &tiles, const Images &y,
            const OutputEpilogue &epilogue) {
  constexpr int side = M + 2;
  for (Index t = tiles.begin; t < tiles.end; ++t) {
    const Tile tile(tiles.grid, t);
    const float *row = from.data + (t - tiles.first) * from.columns;
    const Index top = tile.row * M, left = tile.column * M;
    const Index rows = y.height - top < M ? y.height - top : M;
    const Index columns = y.width - left < M ? y.width - left : M;
    float *corner = y.data + tile.image * y.imageStride + top * y.rowStride +
                    left * y.columnStride;
    for (Index c = 0; c < y.channels; c += kLanes) {
      Vector products[side * side], results[M * M];
      for (int i = 0; i < side * side; ++i)
        products[i] = load(row + i * from.stride + c);
      alongBothAxes<side, M, Line<M>::output>(products, results);
      const Vector bias = epilogue.bias ? load(epilogue.bias + c) : Vector{};
      for (Index p = 0; p < rows; ++p)
        for (Index q = 0; q < columns; ++q) {
          float *place = corner + p * y.rowStride + q * y.columnStride + c;
          Vector value = results[p * M + q] + bias;
          if (epilogue.accumulate)
            value += load(place);
          if (epilogue.relu)
            value = value > 0.0f ? value : epilogue.slope * value;
          store(place, value);
        }
    }
  }
}

template <int M>
void outputGradient(const Images &dy, const TileRange &tiles,
                    const Matrices &to, float *biasSums) {
  constexpr int side = M + 2;
  for (Index t = tiles.begin; t < tiles.end; ++t) {
    const Tile tile(tiles.grid, t);
    const Window<M> window(dy, tile.image, tile.row * M, tile.column * M);
    float *row = to.data + (t - tiles.first) * to.columns;
    for (Index c = 0; c < dy.channels; c += kLanes) {
      Vector values[M * M], sums[side * side];
      for (int i = 0; i < M * M; ++i)
        values[i] = load(window.data[i] + c * window.step[i]);
      if (biasSums) {
        Vector sum = values[0];
        for (int i = 1; i < M * M; ++i)
          sum += values[i];
        store(biasSums + c, load(biasSums + c) + sum);
      }
      alongBothAxes<M, side, Line<M>::outputGradient>(values, sums);
      for (int i = 0; i < side * side; ++i)
        store(row + i * to.stride + c, sums[i]);
    }
  }
}

/// Calls `visit` with the address of a chunk's weights, their stride from lane
/// to lane, and the address of its first value in the matrices. Visits weights
/// in the order of memory.
template <typename Visit>
void forEachWeightChunk(const Weights &w, Index begin, Index end,
                        const Matrices &matrices, const Visit &visit) {
  const bool turned = w.rowsAreOutputs;
  const Index rows = turned ? w.outputs : w.inputs;
  const Index steps = (turned ? w.inputs : w.outputs) / kChannelStep;
  const Index rowStride = turned ? w.outputStride : w.inputStride;
  const Index laneStride = turned ? w.inputStride : w.outputStride;
  const bool alongRows = laneStride < rowStride;
  for (Index chunk = begin; chunk < end; ++chunk) {
    const Index row = alongRows ? chunk / steps : chunk % rows;
    const Index step = alongRows ? chunk % steps : chunk / rows;
    for (Index lane = 0; lane < kChannelStep; lane += kLanes) {
      const Index column = step * kChannelStep + lane;
      visit(w.data + row * rowStride + column * laneStride, laneStride,
            matrices.data + row * matrices.columns + column);
    }
  }
}

template <int M>
void weights(const Weights &w, Index begin, Index end, const Matrices &to) {
  constexpr int side = M + 2;
  auto finish = [&](const Vector *taps, float *place) {
    Vector sums[side * side];
    alongBothAxes<3, side, Line<M>::weights>(taps, sums);
    for (int i = 0; i < side * side; ++i)
      store(place + i * to.stride, sums[i]);
  };
  auto any = [&](const float *from, Index laneStride, float *place) {
    Vector taps[9];
    for (Index r = 0; r < 3; ++r)
      for (Index s = 0; s < 3; ++s)
        for (Index lane = 0; lane < kLanes; ++lane)
          taps[r * 3 + s][lane] =
              from[lane * laneStride + r * w.rowStride + s * w.columnStride];
    finish(taps, place);
  };
  auto dense = [&](const float *from, Index laneStride, float *place) {
    Vector taps[9];
    loadNine(from, laneStride, taps);
    finish(taps, place);
  };
  auto turned = [&](const float *from, Index laneStride, float *place) {
    Vector back[9], taps[9];
    loadNine(from - 8, laneStride, back);
    for (int i = 0; i < 9; ++i)
      taps[i] = back[8 - i];
    finish(taps, place);
  };
  if (!liesDense(w))
    forEachWeightChunk(w, begin, end, to, any);
  else if (w.columnStride > 0)
    forEachWeightChunk(w, begin, end, to, dense);
  else
    forEachWeightChunk(w, begin, end, to, turned);
}

template <int M>
void weightsGradient(const Matrices &from, Index begin, Index end,
                     const Weights &dw, bool accumulate) {
  constexpr int side = M + 2;
  auto sum = [&](const float *place, Vector *taps) {
    Vector products[side * side];
    for (int i = 0; i < side * side; ++i)
      products[i] = load(place + i * from.stride);
    alongBothAxes<side, 3, Line<M>::weightsGradient>(products, taps);
  };
  auto any = [&](float *to, Index laneStride, const float *place) {
    Vector taps[9];
    sum(place, taps);
    for (Index r = 0; r < 3; ++r)
      for (Index s = 0; s < 3; ++s)
        for (Index lane = 0; lane < kLanes; ++lane) {
          float &target =
              to[lane * laneStride + r * dw.rowStride + s * dw.columnStride];
          target = taps[r * 3 + s][lane] + (accumulate ? target : 0.0f);
        }
  };
  auto dense = [&](float *to, Index laneStride, const float *place) {
    Vector taps[9];
    sum(place, taps);
    storeNine(taps, to, laneStride, accumulate);
  };
  if (liesDense(dw)) // gradients are never reversed
    forEachWeightChunk(dw, begin, end, from, dense);
  else
    forEachWeightChunk(dw, begin, end, from, any);
}

const Transforms &transformsForTile(Index m) {
  static constexpr Transforms small = {input<2>, output<2>, weights<2>,
                                       outputGradient<2>, weightsGradient<2>};
  static constexpr Transforms large = {input<4>, output<4>, weights<4>,
                                       outputGradient<4>, weightsGradient<4>};
  return m == 2 ? small : large;
}

} // namespace
} // namespace brew::runtime::winograd
