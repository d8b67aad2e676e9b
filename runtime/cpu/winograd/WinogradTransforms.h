//===- WinogradTransforms.h - The sums around Winograd's products -*- C++
//-*-===//
//
// A convolution of 3x3 with stride 1 makes m x m outputs, a tile, of (m + 2)^2
// inputs. Winograd's algorithm multiplies (m + 2)^2 sums of these inputs with
// as many sums of the 9 weights instead of each output's 9 inputs with 9
// weights, and gets the outputs as sums of the products:
//   Y = At [ (G W Gt) . (Bt X B) ] A
// Over all channels and tiles the products are (m + 2)^2 products of matrices.
// Here are the sums, for m = 2 and m = 4, vectorised over channels.
//
// The matrices are those of polynomials through the points 0, 1, -1 and
// infinity for m = 2, and 0, +-2/3, +-3/2 and infinity for m = 4: of points a,
// -a, 1/a, -1/a these lose the fewest digits, a fifth of what the usual +-1,
// +-2 lose.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace brew::runtime::winograd {

/// Channels that a transform takes at a time: their numbers are multiples.
constexpr std::int64_t kChannelStep = 16;

/// Images, their channels side by side in memory; strides in elements.
struct Images {
  float *data;
  std::int64_t height, width, channels;
  std::int64_t imageStride, rowStride, columnStride;
};

/// How tiles cover an image: numbered by rows, then image by image.
struct TileGrid {
  std::int64_t rows, columns;
};

/// Tiles [begin, end); `first` has the first row of the matrices.
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

/// Weights of 3x3 in memory, by strides in elements; negative ones turn them.
struct Weights {
  float *data;
  std::int64_t outputs, inputs;
  std::int64_t outputStride, inputStride, rowStride, columnStride;

  /// The matrices of their sums have a row for each output and a column for
  /// each input, not the other way round.
  bool rowsAreOutputs;
};

/// What happens to outputs before they are stored.
struct OutputEpilogue {
  const float *bias; ///< or null
  bool accumulate;   ///< add to what lies there
  bool relu;
  float slope; ///< of negative values in the ReLU
};

/// The sums for one m. All may be called for parts at once.
struct Transforms {
  /// Bt X B: a row of `to` for each tile. The first tile begins `top` and
  /// `left` pixels before the image; what lies outside is zero.
  void (*input)(const Images &x, std::int64_t top, std::int64_t left,
                const TileRange &tiles, const Matrices &to);
  /// At M A: the outputs of tiles from their rows of `from`, as far as they lie
  /// in the image.
  void (*output)(const Matrices &from, const TileRange &tiles, const Images &y,
                 const OutputEpilogue &epilogue);
  /// G W Gt: rows of inputs, columns of outputs, or the other way round.
  /// [begin, end) are parts of the work of `weightChunks`.
  void (*weights)(const Weights &w, std::int64_t begin, std::int64_t end,
                  const Matrices &to);
  /// A dY At, the gradient of `output`. Adds dY up over the tiles to
  /// `biasSums`, one for each channel, unless that is null.
  void (*outputGradient)(const Images &dy, const TileRange &tiles,
                         const Matrices &to, float *biasSums);
  /// Gt M G, the gradient of `weights`, written or added.
  void (*weightsGradient)(const Matrices &from, std::int64_t begin,
                          std::int64_t end, const Weights &dw, bool accumulate);
};

/// Parts of the work on weights.
inline std::int64_t weightChunks(const Weights &w) {
  return w.outputs / kChannelStep * w.inputs;
}

/// For tiles of m x m; for processors with the instructions of the name.
const Transforms &transformsAvx2(std::int64_t m);
const Transforms &transformsAvx512(std::int64_t m);

} // namespace brew::runtime::winograd
