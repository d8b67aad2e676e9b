//===- Oversample.cpp - Ten crops of an image -----------------------------===//

#include "Oversample.h"

#include <algorithm>

namespace brew::run {

std::vector<std::vector<float>>
tenCrops(const float *image, std::int64_t channels, std::int64_t height,
         std::int64_t width, std::int64_t cropHeight, std::int64_t cropWidth) {
  const std::int64_t bottom = height - cropHeight, right = width - cropWidth;
  const std::int64_t corners[][2] = {{0, 0},
                                     {0, right},
                                     {bottom, 0},
                                     {bottom, right},
                                     {bottom / 2, right / 2}};
  std::vector<std::vector<float>> crops;
  for (const auto &[top, left] : corners) {
    std::vector<float> crop;
    crop.reserve(static_cast<std::size_t>(channels * cropHeight * cropWidth));
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < cropHeight; ++y) {
        const float *row = image + (c * height + top + y) * width + left;
        crop.insert(crop.end(), row, row + cropWidth);
      }
    crops.push_back(std::move(crop));
  }
  for (std::size_t i = 0; i < kCropCount / 2; ++i) {
    std::vector<float> mirrored = crops[i];
    for (auto row = mirrored.begin(); row != mirrored.end(); row += cropWidth)
      std::reverse(row, row + cropWidth);
    crops.push_back(std::move(mirrored));
  }
  return crops;
}

std::vector<float> averageCrops(const std::vector<float> &rows,
                                std::size_t rowSize) {
  std::vector<float> means;
  const std::size_t cropsSize = kCropCount * rowSize;
  for (std::size_t begin = 0; begin + cropsSize <= rows.size();
       begin += cropsSize)
    for (std::size_t i = 0; i < rowSize; ++i) {
      double sum = 0;
      for (std::size_t crop = 0; crop < kCropCount; ++crop)
        sum += rows[begin + crop * rowSize + i];
      means.push_back(static_cast<float>(sum / kCropCount));
    }
  return means;
}

} // namespace brew::run
