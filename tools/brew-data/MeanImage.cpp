//===- MeanImage.cpp - Mean of the images of a database -------------------===//
#include "tools/brew-data/MeanImage.h"

#include "support/Error.h"
#include "tools/brew-data/Records.h"

#include <cinttypes>
#include <cstdio>

namespace brew::data {

void MeanImage::add(const formats::ImageRecord &image,
                    const std::string &name) {
  const std::string shape = shapeOf(image);
  if (imageCount == 0) {
    sums.assign(image.size(), 0.0);
    imageShape = shape;
    channels = image.channels;
    height = image.height;
    width = image.width;
  } else if (shape != imageShape) {
    throw badInput(name + " has shape " + shape + ", but the first one has " +
                   imageShape);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += image.value(i);
  ++imageCount;
}

formats::Blob MeanImage::mean() const {
  formats::Blob mean;
  mean.legacyShape = true;
  mean.dims = {1, channels, height, width};
  for (double sum : sums) // rounded to float before the division, as in Caffe
    mean.floats.push_back(static_cast<float>(sum) /
                          static_cast<float>(imageCount));
  return mean;
}

void MeanImage::print(const std::string &subject) const {
  std::printf("%s: mean of %" PRIu64 " images of %s\n", subject.c_str(),
              imageCount, imageShape.c_str());
  const std::vector<float> values = mean().floats;
  const size_t plane = values.size() / static_cast<size_t>(channels);
  for (int c = 0; c < channels; ++c) {
    double sum = 0;
    for (size_t i = 0; i < plane; ++i)
      sum += values[static_cast<size_t>(c) * plane + i];
    std::printf("mean_value channel [%d]: %g\n", c,
                sum / static_cast<double>(plane));
  }
}

} // namespace brew::data
