//===- ImageResize.cpp - Bilinear resizing of bytes -----------------------===//
#include "formats/image/ImageResize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace brew::formats {
namespace {

constexpr int kWeightOne = 1 << 11; // the fixed-point weight 1.0

/// The two rows or columns of the image from which a row or column of the
/// result is interpolated.
struct Tap {
  int first, second; ///< may be equal
  int weight[2];     ///< fixed-point, see kWeightOne
};

/// Returns a weight as a fixed-point number. Rounds to nearest, ties to even,
/// as OpenCV does.
int fixedPointWeight(float weight) {
  return static_cast<int>(std::nearbyint(weight * kWeightOne));
}

/// Returns the taps that resize `sourceSize` pixels to `targetSize` pixels.
/// With `clampsWeights`, the edge's pixel has all the weight beyond an edge.
/// OpenCV does this along rows. Along columns it reads the edge's row twice,
/// which may differ in the last bit.
std::vector<Tap> computeTaps(int sourceSize, int targetSize,
                             bool clampsWeights) {
  const double scale = 1.0 / (static_cast<double>(targetSize) / sourceSize);
  std::vector<Tap> taps(static_cast<size_t>(targetSize));
  for (int i = 0; i < targetSize; ++i) {
    float fraction = static_cast<float>((i + 0.5) * scale - 0.5);
    int position = static_cast<int>(std::floor(fraction));
    fraction -= static_cast<float>(position);
    if (clampsWeights && position < 0) {
      fraction = 0;
      position = 0;
    }
    if (clampsWeights && position >= sourceSize - 1) {
      fraction = 0;
      position = sourceSize - 1;
    }
    taps[static_cast<size_t>(i)] = {
        std::clamp(position, 0, sourceSize - 1),
        std::clamp(position + 1, 0, sourceSize - 1),
        {fixedPointWeight(1.f - fraction), fixedPointWeight(fraction)}};
  }
  return taps;
}

/// Resizes a row to the new width. The sums are exact: a pixel has 8 bits, a
/// weight 11.
void resizeRow(const uint8_t *row, const std::vector<Tap> &columns,
               int channels, int *sums) {
  for (const Tap &tap : columns) {
    const uint8_t *first = row + size_t(tap.first) * channels;
    const uint8_t *second = row + size_t(tap.second) * channels;
    for (int c = 0; c < channels; ++c)
      *sums++ = first[c] * tap.weight[0] + second[c] * tap.weight[1];
  }
}

} // namespace

void resizeImage(const Image &image, int height, int width, Image &result) {
  if (image.height == height && image.width == width) {
    result = image;
    return;
  }
  result.channels = image.channels;
  result.height = height;
  result.width = width;
  const size_t channels = static_cast<size_t>(image.channels);
  const size_t rowSize = size_t(width) * channels;
  const size_t sourceSize = size_t(image.width) * channels;
  result.pixels.resize(rowSize * height);

  const std::vector<Tap> columns = computeTaps(image.width, width, true);
  const std::vector<Tap> rows = computeTaps(image.height, height, false);
  // A cache of the two rows that were resized last, with their numbers.
  std::vector<int> sums[2] = {std::vector<int>(rowSize),
                              std::vector<int>(rowSize)};
  int cachedRows[2] = {-1, -1};
  auto getResizedRow = [&](int row, int rowToKeep) -> const int * {
    for (int i = 0; i < 2; ++i)
      if (cachedRows[i] == row)
        return sums[i].data();
    const int slot = cachedRows[0] == rowToKeep ? 1 : 0;
    resizeRow(image.pixels.data() + sourceSize * row, columns, image.channels,
              sums[slot].data());
    cachedRows[slot] = row;
    return sums[slot].data();
  };
  for (int y = 0; y < height; ++y) {
    const Tap &tap = rows[static_cast<size_t>(y)];
    const int *above = getResizedRow(tap.first, tap.second);
    const int *below = getResizedRow(tap.second, tap.first);
    uint8_t *out = result.pixels.data() + rowSize * y;
    for (size_t x = 0; x < rowSize; ++x)
      out[x] =
          static_cast<uint8_t>((((above[x] >> 4) * tap.weight[0] >> 16) +
                                ((below[x] >> 4) * tap.weight[1] >> 16) + 2) >>
                               2);
  }
}

Image resizeByCopying(const Image &image, int height, int width) {
  auto source = [](int index, int from, int to) {
    return std::min(static_cast<int>(index * (static_cast<double>(from) / to)),
                    from - 1);
  };
  Image result;
  result.channels = image.channels;
  result.height = height;
  result.width = width;
  const size_t channels = static_cast<size_t>(image.channels);
  result.pixels.resize(size_t(height) * width * channels);
  uint8_t *out = result.pixels.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const size_t pixel =
          size_t(source(y, image.height, height)) * image.width +
          source(x, image.width, width);
      out = std::copy_n(image.pixels.data() + pixel * channels, channels, out);
    }
  return result;
}

Image cropImage(const Image &image, int top, int left, int height, int width) {
  Image result;
  result.channels = image.channels;
  result.height = height;
  result.width = width;
  const size_t channels = static_cast<size_t>(image.channels);
  const size_t rowSize = size_t(width) * channels;
  result.pixels.resize(rowSize * height);
  for (int y = 0; y < height; ++y)
    std::memcpy(result.pixels.data() + rowSize * y,
                image.pixels.data() +
                    (size_t(top + y) * image.width + left) * channels,
                rowSize);
  return result;
}

} // namespace brew::formats
