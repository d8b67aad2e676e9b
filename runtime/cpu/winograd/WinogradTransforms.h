//===- WinogradTransforms.h - Winograd's transforms -------------*- C++ -*-===//
//
// A 3x3 convolution with stride 1 computes a tile of m x m outputs from
// (m + 2)^2 inputs. Winograd's algorithm multiplies (m + 2)^2 sums of these
// inputs with as many sums of the 9 weights, instead of each output's 9 inputs
// with 9 weights, and computes the outputs as sums of the products:
//   Y = At [ (G W Gt) . (Bt X B) ] A
// Over all channels and tiles the products are (m + 2)^2 products of matrices.
// This file declares the sums (transforms) for m = 2 and m = 4, vectorised over
// channels.
//
// The matrices G, B and A follow from polynomials through the points 0, 1, -1
// and infinity for m = 2, and 0, +-2/3, +-3/2 and infinity for m = 4. Among
// points a, -a, 1/a, -1/a these have the smallest rounding error. The error
// with the usual points +-1, +-2 is five times as large.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace brew::runtime::winograd {

/// Number of channels that a transform processes at a time. The number of
/// channels must be a multiple of this.
constexpr std::int64_t kChannelStep = 16;

/// Images with contiguous channels; strides in elements.
struct Images {
  float *data;
  std::int64_t height, width, channels;
  std::int64_t imageStride, rowStride, columnStride;
};

/// The tiles that cover an image, numbered row by row and image by image.
struct TileGrid {
  std::int64_t rows, columns;
};

/// Tiles [begin, end). Tile `first` is the first row of the matrices.
struct TileRange {
  TileGrid grid;
  std::int64_t first, begin, end;
};

/// The matrices of all (m + 2)^2 products, `stride` elements apart, of rows of
/// `columns` elements without gaps.
struct Matrices {
  float *data;
  std::int64_t stride, columns;
};

/// 3x3 weights in memory; strides in elements. Negative strides rotate the
/// windows by 180 degrees.
struct Weights {
  float *data;
  std::int64_t outputs, inputs;
  std::int64_t outputStride, inputStride, rowStride, columnStride;

  /// Whether the matrices of the sums have a row for each output and a column
  /// for each input. Otherwise they are transposed.
  bool rowsAreOutputs;
};

/// Operations on outputs before they are stored.
struct OutputEpilogue {
  const float *bias; ///< or null
  bool accumulate;   ///< add to the values in memory
  bool relu;
  float slope; ///< of the ReLU for negative values
};

/// The transforms for one m. Several threads may call them for disjoint ranges.
struct Transforms {
  /// Bt X B: writes a row of `to` for each tile. The first tile begins `top`
  /// and `left` pixels before the image. Pixels outside are zero.
  void (*input)(const Images &x, std::int64_t top, std::int64_t left,
                const TileRange &tiles, const Matrices &to);
  /// At M A: writes the outputs of tiles from their rows of `from`, clipped to
  /// the image.
  void (*output)(const Matrices &from, const TileRange &tiles, const Images &y,
                 const OutputEpilogue &epilogue);
  /// G W Gt: writes matrices of inputs and outputs (see rowsAreOutputs) for
  /// chunks [begin, end) of weightChunks().
  void (*weights)(const Weights &w, std::int64_t begin, std::int64_t end,
                  const Matrices &to);
  /// A dY At, the gradient of `output`. Adds the sum of dY over the tiles to
  /// `biasSums`, one value per channel, unless it is null.
  void (*outputGradient)(const Images &dy, const TileRange &tiles,
                         const Matrices &to, float *biasSums);
  /// Gt M G, the gradient of `weights`: writes it to `dw` or, with
  /// `accumulate`, adds it.
  void (*weightsGradient)(const Matrices &from, std::int64_t begin,
                          std::int64_t end, const Weights &dw, bool accumulate);
};

/// Returns the number of independent chunks of the work on weights.
inline std::int64_t weightChunks(const Weights &w) {
  return w.outputs / kChannelStep * w.inputs;
}

/// These functions return the transforms for tiles of m x m, for processors
/// with AVX2 or AVX-512.
const Transforms &transformsAvx2(std::int64_t m);
const Transforms &transformsAvx512(std::int64_t m);

} // namespace brew::runtime::winograd
