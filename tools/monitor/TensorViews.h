//===- TensorViews.h - Tensors as images and histograms ---------------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace brew::monitor {

/// {count, min, max, mean, deviation, bins: [64 counts from min to max]};
/// values that are not finite are counted in `non_finite` alone.
nlohmann::json histogramOf(const std::vector<float> &values);

/// {width, height, channels, tiles: [[0..255, ...], ...], left: tiles that
/// there was no room for}: filters (`shape` O x I x H x W; colours where I is
/// 3) or maps (C x H x W), each an image, grey from the least to the greatest
/// value of all. Of two dimensions and fewer the whole is an image, reduced to
/// at most 128 x 128 by means. At most 64 tiles.
nlohmann::json imagesOf(const std::vector<float> &values,
                        const std::vector<std::int64_t> &shape);

} // namespace brew::monitor
