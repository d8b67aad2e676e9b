//===- MeanImage.h - Mean of the images of a database -----------*- C++ -*-===//
#pragma once

#include "formats/Blob.h"
#include "formats/Datum.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::data {

/// The elementwise mean of images of one shape.
class MeanImage {
public:
  /// Adds an image. Throws Error(1), prefixed with `name`, if its shape differs
  /// from that of the first image.
  void add(const formats::ImageRecord &image, const std::string &name);

  /// Returns the number of images.
  uint64_t count() const { return imageCount; }
  /// Returns the shape of the images, such as "3x32x32".
  const std::string &shape() const { return imageShape; }
  /// Returns the mean, 1 x C x H x W. Requires an image.
  formats::Blob mean() const;
  /// Prints the number of images, their shape and the mean of each channel.
  /// `subject` begins the first line.
  void print(const std::string &subject) const;

private:
  /// Sums of bytes in double are exact for any number of images.
  std::vector<double> sums;
  std::string imageShape;
  int channels = 0, height = 0, width = 0;
  uint64_t imageCount = 0;
};

} // namespace brew::data
