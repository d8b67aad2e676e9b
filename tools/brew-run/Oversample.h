//===- Oversample.h - Ten crops of an image ---------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::run {

/// Crops for which the net's answers are averaged: the four corners and the
/// centre, then these mirrored, as pycaffe's Classifier takes them.
inline constexpr int kCropCount = 10;

/// `image`: channels x height x width values, at least as large as the crops of
/// channels x cropHeight x cropWidth that are returned.
std::vector<std::vector<float>>
tenCrops(const float *image, std::int64_t channels, std::int64_t height,
         std::int64_t width, std::int64_t cropHeight, std::int64_t cropWidth);

/// Means of each `kCropCount` rows of `rowSize` values.
std::vector<float> averageCrops(const std::vector<float> &rows,
                                std::size_t rowSize);

} // namespace brew::run
