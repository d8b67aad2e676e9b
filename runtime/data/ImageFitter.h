//===- ImageFitter.h - Preparation of images for inference ------*- C++ -*-===//
#pragma once

#include "formats/Datum.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Preprocessing of images: resize, crop the centre to the input's height and
/// width, then (value - mean) * scale.
struct Preprocessing {
  /// At least the input's height and width; 0: these.
  std::int64_t resizeHeight = 0, resizeWidth = 0;
  float scale = 1;
  std::vector<float> channelMeans; ///< empty, one, or one per channel
  std::vector<float> meanImage;    ///< channels x height x width, or empty
};

/// Reads a mean: numbers separated by commas, or a .binaryproto. A mean image
/// of another height and width than the input is reduced to the means of its
/// channels, as in Caffe's `classification`. Throws Error (1) if the channels
/// do not fit.
void readMean(const std::string &text, const std::vector<std::int64_t> &shape,
              Preprocessing &preprocessing);

/// Sets the mean: no value, one, one per channel, or one per element of images
/// of any height and width. Throws Error (1) for another number.
void setMean(const std::vector<float> &values,
             const std::vector<std::int64_t> &shape,
             Preprocessing &preprocessing);

/// Converts images of any size to one row of an input.
class ImageFitter {
public:
  /// `rowShape` is the input's shape without its batch. Throws Error (1) with
  /// `path` unless it has three dimensions.
  ImageFitter(std::vector<std::int64_t> rowShape, Preprocessing steps,
              const std::string &path);

  /// Returns the colour format to decode images to.
  formats::ImageColor color() const;

  /// Prepares an image. It is resized before it is converted to floats, as in
  /// Caffe's programs. Throws Error (1) with `where` if it has another number
  /// of channels than the input.
  void fit(const formats::Image &image, const std::string &where,
           std::vector<float> &row) const;
  void fit(const formats::ImageRecord &image, const std::string &where,
           std::vector<float> &row) const;

private:
  void fit(const std::vector<float> &planes, std::int64_t channels,
           std::int64_t height, std::int64_t width, const std::string &where,
           std::vector<float> &row) const;

  std::vector<std::int64_t> shape;
  Preprocessing preprocessing;
  std::int64_t resizedHeight, resizedWidth; ///< before cropping
};

} // namespace brew::runtime
