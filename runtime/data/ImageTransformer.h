//===- ImageTransformer.h - Caffe's transform_param -------------*- C++ -*-===//
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

/// The transformation parameters of one image: random, or dependent on its
/// size.
struct CropAndMirror {
  bool mirrored = false;
  std::int64_t top = 0, left = 0; ///< of the crop
};

/// Crops, mirrors, subtracts the mean and scales images as a layer's
/// transform_param says: a random crop in training, the centre crop in testing.
/// The mirror, if enabled, is random in both phases, as in Caffe.
class ImageTransformer {
public:
  /// Reads the mean file. Also reads the equivalent fields in data_param of old
  /// nets. Throws Error: 3 if the mean file is not found, 1 if the fields
  /// contradict each other.
  explicit ImageTransformer(const DataLayerInfo &info);

  /// Returns the colour format to decode images to.
  formats::ImageColor color() const { return imageColor; }

  /// Returns channels, height and width of the transformed image. A clip counts
  /// the channels of all its frames.
  std::array<int, 3> resultShape(const formats::ImageRecord &image) const;

  /// Chooses crop and mirror of an image. `record` is its number since the
  /// start of training: random choices depend on it and the seed alone. Throws
  /// Error (1), with the prefix `where`, if crop or mean do not fit the image.
  CropAndMirror chooseCrop(const formats::ImageRecord &image,
                           std::uint64_t record,
                           const std::string &where) const;

  /// Writes the transformed image, channels x height x width, to `result`
  /// (float or double).
  template <typename Value>
  void apply(const formats::ImageRecord &image,
             const CropAndMirror &cropAndMirror, Value *result) const;

  /// Copies the crop of an image of bytes to the first rows and columns of
  /// `pixels`, an image of `block`.
  void crop(const formats::ImageRecord &image,
            const CropAndMirror &cropAndMirror, const PixelBlock &block,
            std::uint8_t *pixels) const;
  /// Writes the result of apply(), which has the shape `shape`, from `pixels`:
  /// an image of `block`, which contains the full record or only its crop.
  template <typename Value>
  void applyToPixels(const PixelBlock &block, const std::uint8_t *pixels,
                     const std::array<int, 3> &shape,
                     const CropAndMirror &cropAndMirror, Value *result) const;

  /// Returns the mean in the layout of the device's pixel conversion.
  const PixelMean &mean() const { return pixelMean; }

private:
  template <typename Pixel, typename Value>
  void transform(const Pixel *in, std::int64_t rowStride,
                 std::int64_t channelStride, const std::array<int, 3> &shape,
                 const CropAndMirror &cropAndMirror, Value *result) const;
  void checkImage(const formats::ImageRecord &image,
                  const std::string &where) const;

  caffe::TransformationParameter parameter;
  bool testPhase;
  caffe::RandomStream stream;
  formats::ImageColor imageColor = formats::ImageColor::Native;
  /// The mean file, or a value per channel; empty if there is one value for all
  /// channels, or no mean.
  PixelMean pixelMean;
  std::int64_t meanFrames = 1; ///< of the clips whose mean is `pixelMean`
  std::string meanShape;       ///< of the mean file, for messages
};

} // namespace brew::runtime
