//===- Oversample.h - Ten crops of an image ---------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::run {

/// The number of crops whose results are averaged: the four corners and the
/// centre, then the same mirrored, as in pycaffe's Classifier.
inline constexpr int kCropCount = 10;

/// Returns the crops of an image, channels x cropHeight x cropWidth each. The
/// image, channels x height x width, must not be smaller than the crops.
std::vector<std::vector<float>>
tenCrops(const float *image, std::int64_t channels, std::int64_t height,
         std::int64_t width, std::int64_t cropHeight, std::int64_t cropWidth);

/// Averages each kCropCount consecutive rows of `rowSize` values.
std::vector<float> averageCrops(const std::vector<float> &rows,
                                std::size_t rowSize);

} // namespace brew::run
