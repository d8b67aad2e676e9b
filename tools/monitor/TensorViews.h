//===- TensorViews.h - Tensors as images and histograms ---------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace brew::monitor {

/// Returns {count, min, max, mean, deviation, non_finite, bins: [64 counts from
/// min to max]}. `non_finite` counts the values that are not finite; the other
/// statistics exclude them, except `count`.
nlohmann::json histogramOf(const std::vector<float> &values);

/// Returns {width, height, channels, tiles: [[0..255, ...], ...], left: number
/// of omitted tiles}. Filters (`shape` O x I x H x W, in colour if I is 3) and
/// maps (C x H x W) have one tile per image, scaled from the minimum to the
/// maximum of all values. A tensor of at most two dimensions is one image,
/// averaged down to at most 128 x 128. There are at most 64 tiles.
nlohmann::json imagesOf(const std::vector<float> &values,
                        const std::vector<std::int64_t> &shape);

} // namespace brew::monitor
