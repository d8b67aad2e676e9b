//===- ImageTransformer.h - transform_param ---------------------*- C++ -*-===//
#pragma once

#include "caffe/RandomStream.h"
#include "formats/Datum.h"
#include "runtime/data/BatchSource.h"
#include "runtime/executor/PixelBlock.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// What is random about an image, or depends on its size.
struct CropAndMirror {
  bool mirrored = false;
  std::int64_t top = 0, left = 0; ///< of the crop
};

/// Crops, mirrors, subtracts the mean and scales images, as a layer's
/// transform_param says: a random crop and mirror when training, the centre
/// crop when testing (a mirror, if asked for, is random in both, as in Caffe).
class ImageTransformer {
public:
  /// Reads the mean file. Also takes the fields of the same meaning that old
  /// nets have in data_param. Throws Error: 3 if the mean file is not found, 1
  /// if the fields contradict each other.
  explicit ImageTransformer(const DataLayerInfo &info);

  /// How encoded images are to be decoded.
  formats::ImageColor color() const { return imageColor; }

  /// Channels, height and width of the result for an image of these.
  std::array<int, 3> resultShape(const formats::ImageRecord &image) const;

  /// Crop and mirror of an image. `record` numbers it since the start of
  /// training: the random choices depend on it and the seed alone. Throws Error
  /// (1), beginning with `where`, if crop or mean do not fit the image.
  CropAndMirror chooseCrop(const formats::ImageRecord &image, std::uint64_t record,
                       const std::string &where) const;

  /// Writes the transformed image, channels x height x width, to `result`
  /// (float or double).
  template <typename Value>
  void apply(const formats::ImageRecord &image, const CropAndMirror &cropAndMirror,
             Value *result) const;

  /// Copies the crop of an image of bytes to the first rows and columns of
  /// `pixels`, an image of `block`.
  void crop(const formats::ImageRecord &image, const CropAndMirror &cropAndMirror,
            const PixelBlock &block, std::uint8_t *pixels) const;
  /// What apply() makes of the record that `pixels`, an image of `block`, holds
  /// or was cropped from: a result of shape `shape`.
  template <typename Value>
  void applyToPixels(const PixelBlock &block, const std::uint8_t *pixels,
                     const std::array<int, 3> &shape,
                     const CropAndMirror &cropAndMirror, Value *result) const;

  /// The mean as a conversion on a device reads it.
  const PixelMean &mean() const { return pixelMean; }

private:
  template <typename Pixel, typename Value>
  void transform(const Pixel *in, std::int64_t row, std::int64_t plane,
                 const std::array<int, 3> &shape,
                 const CropAndMirror &cropAndMirror, Value *result) const;
  void checkImage(const formats::ImageRecord &image,
                  const std::string &where) const;

  caffe::TransformationParameter parameter;
  bool testPhase;
  caffe::RandomStream stream;
  formats::ImageColor imageColor = formats::ImageColor::Native;
  /// Of the mean file; or a value per channel; or nothing, where there is only
  /// one value for all, or none.
  PixelMean pixelMean;
};

} // namespace brew::runtime
