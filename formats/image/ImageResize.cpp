//===- ImageResize.cpp - Bilinear resizing of bytes -----------------------===//
#include "formats/image/ImageResize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace brew::formats {
namespace {

constexpr int kWeightOne = 1 << 11;

/// The source of a row or column of the result.
struct Tap {
  int first, second; ///< of the image; they may be the same
  int weight[2];     ///< parts of kWeightOne
};

/// Rounds to nearest, ties to even, as OpenCV does.
int weightOf(float part) {
  return static_cast<int>(std::nearbyint(part * kWeightOne));
}

/// `clampsWeights`: beyond an edge, the edge's pixel has all the weight. OpenCV
/// does so along rows; along columns it reads the edge's row twice, which may
/// differ in the last bit.
std::vector<Tap> tapsOf(int from, int to, bool clampsWeights) {
  const double scale = 1.0 / (static_cast<double>(to) / from);
  std::vector<Tap> taps(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    float part = static_cast<float>((i + 0.5) * scale - 0.5);
    int at = static_cast<int>(std::floor(part));
    part -= static_cast<float>(at);
    if (clampsWeights && at < 0) {
      part = 0;
      at = 0;
    }
    if (clampsWeights && at >= from - 1) {
      part = 0;
      at = from - 1;
    }
    taps[static_cast<size_t>(i)] = {std::clamp(at, 0, from - 1),
                                    std::clamp(at + 1, 0, from - 1),
                                    {weightOf(1.f - part), weightOf(part)}};
  }
  return taps;
}

/// Resizes a row to the new width: exact sums of 8 + 11 bits.
void widenRow(const uint8_t *row, const std::vector<Tap> &columns, int channels,
              int *sums) {
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

  const std::vector<Tap> columns = tapsOf(image.width, width, true);
  const std::vector<Tap> rows = tapsOf(image.height, height, false);
  // The two rows that were resized last, by their number.
  std::vector<int> sums[2] = {std::vector<int>(rowSize),
                              std::vector<int>(rowSize)};
  int held[2] = {-1, -1};
  auto widened = [&](int row, int other) -> const int * {
    for (int i = 0; i < 2; ++i)
      if (held[i] == row)
        return sums[i].data();
    const int slot = held[0] == other ? 1 : 0;
    widenRow(image.pixels.data() + sourceSize * row, columns, image.channels,
             sums[slot].data());
    held[slot] = row;
    return sums[slot].data();
  };
  for (int y = 0; y < height; ++y) {
    const Tap &tap = rows[static_cast<size_t>(y)];
    const int *above = widened(tap.first, tap.second);
    const int *below = widened(tap.second, tap.first);
    uint8_t *out = result.pixels.data() + rowSize * y;
    for (size_t x = 0; x < rowSize; ++x)
      out[x] =
          static_cast<uint8_t>((((above[x] >> 4) * tap.weight[0] >> 16) +
                                ((below[x] >> 4) * tap.weight[1] >> 16) + 2) >>
                               2);
  }
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
