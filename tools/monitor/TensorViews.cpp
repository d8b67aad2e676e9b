//===- TensorViews.cpp - Tensors as images and histograms -----------------===//

#include "tools/monitor/TensorViews.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kBins = 64, kMaxTiles = 64, kMaxSide = 128;

struct Range {
  double low = INFINITY, high = -INFINITY;
};

Range rangeOf(const std::vector<float> &values) {
  Range range;
  for (float value : values)
    if (std::isfinite(value)) {
      range.low = std::min<double>(range.low, value);
      range.high = std::max<double>(range.high, value);
    }
  return range;
}

int shadeOf(double value, const Range &range) {
  if (!std::isfinite(value) || range.high <= range.low)
    return 0;
  return static_cast<int>(
      std::lround((value - range.low) / (range.high - range.low) * 255));
}

/// Averages blocks, so that no side is longer than kMaxSide. Updates `height`
/// and `width`.
std::vector<float> downsample(const std::vector<float> &values,
                              std::size_t &height, std::size_t &width) {
  const std::size_t blockHeight = (height + kMaxSide - 1) / kMaxSide,
                    blockWidth = (width + kMaxSide - 1) / kMaxSide;
  if (blockHeight <= 1 && blockWidth <= 1)
    return values;
  const std::size_t newHeight = (height + blockHeight - 1) / blockHeight,
                    newWidth = (width + blockWidth - 1) / blockWidth;
  std::vector<float> result(newHeight * newWidth);
  for (std::size_t y = 0; y < newHeight; ++y)
    for (std::size_t x = 0; x < newWidth; ++x) {
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t j = y * blockHeight;
           j < std::min(height, (y + 1) * blockHeight); ++j)
        for (std::size_t i = x * blockWidth;
             i < std::min(width, (x + 1) * blockWidth); ++i, ++count)
          sum += values[j * width + i];
      result[y * newWidth + x] =
          static_cast<float>(sum / static_cast<double>(count));
    }
  height = newHeight;
  width = newWidth;
  return result;
}

} // namespace

Json histogramOf(const std::vector<float> &values) {
  const Range range = rangeOf(values);
  double sum = 0, squares = 0;
  std::size_t nonFinite = 0;
  std::vector<std::uint64_t> bins(kBins);
  const double width = range.high - range.low;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++nonFinite;
      continue;
    }
    sum += value;
    squares += double(value) * value;
    const double relative = width > 0 ? (value - range.low) / width : 0;
    ++bins[std::min(kBins - 1, static_cast<std::size_t>(relative * kBins))];
  }
  const std::size_t finite = values.size() - nonFinite;
  const double count = static_cast<double>(std::max<std::size_t>(finite, 1));
  const double mean = sum / count;
  return {
      {"count", values.size()},
      {"non_finite", nonFinite},
      {"min", finite ? range.low : 0},
      {"max", finite ? range.high : 0},
      {"mean", mean},
      {"deviation", std::sqrt(std::max(0.0, squares / count - mean * mean))},
      {"bins", bins}};
}

Json imagesOf(const std::vector<float> &tensorValues,
              const std::vector<std::int64_t> &shape) {
  auto dim = [&](std::size_t fromEnd) {
    return shape.size() < fromEnd
               ? std::size_t(1)
               : static_cast<std::size_t>(shape[shape.size() - fromEnd]);
  };
  std::size_t width = dim(1), height = dim(2);
  std::vector<float> values = tensorValues;
  const bool isColour = shape.size() == 4 && shape[1] == 3;
  const std::size_t channels = isColour ? 3 : 1;
  // Vectors and matrices are one image; long vectors wrap into rows.
  if (shape.size() <= 2) {
    if (height == 1 && width > kMaxSide) {
      height = (width + kMaxSide - 1) / kMaxSide;
      width = kMaxSide;
      values.resize(height * width);
    }
    values = downsample(values, height, width);
  }
  const std::size_t plane = width * height, tile = plane * channels;
  if (tile == 0 || plane > kMaxSide * kMaxSide * 4)
    return {{"width", 0},
            {"height", 0},
            {"channels", 1},
            {"tiles", Json::array()},
            {"left", 0}};
  const std::size_t count = values.size() / tile;
  // Limit the total number of pixels.
  const std::size_t shownCount =
      std::min({count, kMaxTiles, std::max<std::size_t>(1, (1 << 17) / tile)});
  const Range range = rangeOf(values);
  Json tiles = Json::array();
  for (std::size_t t = 0; t < shownCount; ++t) {
    Json &pixels = tiles.emplace_back(Json::array());
    for (std::size_t p = 0; p < plane; ++p)
      for (std::size_t c = 0; c < channels; ++c)
        pixels.push_back(shadeOf(values[t * tile + c * plane + p], range));
  }
  return {{"width", width},
          {"height", height},
          {"channels", channels},
          {"tiles", std::move(tiles)},
          {"left", count - shownCount}};
}

} // namespace brew::monitor
