//===- ImageTransformer.h - transform_param ---------------------*- C++ -*-===//
#pragma once

#include "formats/Datum.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/RandomStream.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Crops, mirrors, subtracts the mean and scales images, as a layer's
/// transform_param says: a random crop and mirror when training, the centre
/// crop when testing (a mirror, if asked for, is random in both, as in Caffe).
class ImageTransformer {
public:
  /// Reads the mean file. Also takes the fields of the same meaning that old
  /// nets have in data_param. Throws Error: 3 if the mean file is not found, 1
  /// if the fields contradict each other.
  explicit ImageTransformer(const FeedInfo &info);

  /// How encoded images are to be decoded.
  formats::ImageColor color() const { return imageColor; }

  /// Channels, height and width of the result for an image of these.
  std::array<int, 3> resultShape(const formats::ImageRecord &image) const;

  /// Writes the transformed image, channels x height x width, to `result`
  /// (float or double). `record` numbers the image since the start of training:
  /// the random choices depend on it and the seed alone. Throws Error (1),
  /// beginning with `where`, if crop or mean do not fit the image.
  template <typename Value>
  void apply(const formats::ImageRecord &image, std::uint64_t record,
             const std::string &where, Value *result) const;

private:
  void checkImage(const formats::ImageRecord &image,
                  const std::string &where) const;

  caffe::TransformationParameter parameter;
  bool testPhase;
  RandomStream stream;
  formats::ImageColor imageColor = formats::ImageColor::Native;
  std::vector<float> meanImage; ///< empty without a mean file
  std::array<std::int64_t, 3> meanShape{};
};

} // namespace brew::runtime
