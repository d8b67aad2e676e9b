//===- ImageTransformer.cpp - Caffe's transform_param ---------------------===//

#include "runtime/data/ImageTransformer.h"

#include "caffe/CropSize.h"
#include "caffe/weights/BufferLayout.h"
#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {
namespace {

/// Returns transform_param merged with the equivalent old fields of data_param.
caffe::TransformationParameter
mergedParameter(const caffe::LayerParameter &layer) {
  caffe::TransformationParameter result = layer.transform_param();
  const caffe::DataParameter &old = layer.data_param();
  if (old.has_scale() && !result.has_scale())
    result.set_scale(old.scale());
  if (old.has_mean_file() && !result.has_mean_file())
    result.set_mean_file(old.mean_file());
  if (old.has_crop_size() && !result.has_crop_size())
    result.set_crop_size(old.crop_size());
  if (old.has_mirror() && !result.has_mirror())
    result.set_mirror(old.mirror());
  if (old.has_force_encoded_color() && !result.has_force_color())
    result.set_force_color(old.force_encoded_color());
  return result;
}

/// Computes out = (in - mean) * scale for one row. Subtracts `constant` if
/// `mean` is null.
template <typename Pixel, typename Value>
void transformRow(const Pixel *in, const float *mean, Value constant,
                  Value scale, std::int64_t width, bool mirror, Value *out) {
  if (mirror) {
    for (std::int64_t w = 0; w < width; ++w)
      out[width - 1 - w] =
          (static_cast<Value>(in[w]) - (mean ? mean[w] : constant)) * scale;
  } else if (mean) {
    for (std::int64_t w = 0; w < width; ++w)
      out[w] = (static_cast<Value>(in[w]) - mean[w]) * scale;
  } else {
    for (std::int64_t w = 0; w < width; ++w)
      out[w] = (static_cast<Value>(in[w]) - constant) * scale;
  }
}

} // namespace

ImageTransformer::ImageTransformer(const DataLayerInfo &info)
    : parameter(mergedParameter(info.layer)), testPhase(info.testPhase),
      stream(info.seed.rankSeed(), "transform " + info.stream) {
  const std::string where =
      "layer '" + info.layer.name() + "' (" + info.layer.type() + ")";
  const caffe::DataLayerKind *kind =
      caffe::findDataLayerKind(info.layer.type());
  if (parameter.force_color() && parameter.force_gray())
    throw badInput(where + ": force_color and force_gray exclude each other");
  if (parameter.force_color())
    imageColor = formats::ImageColor::Color;
  if (parameter.force_gray())
    imageColor = formats::ImageColor::Gray;
  if (!parameter.has_mean_file()) {
    const int means = parameter.mean_value_size();
    if (means > 1)
      pixelMean = {
          {means, 1, 1},
          {parameter.mean_value().begin(), parameter.mean_value().end()}};
    return;
  }
  if (parameter.mean_value_size())
    throw badInput(where + ": mean_file and mean_value exclude each other");
  const std::string path = formats::requirePath(
      parameter.mean_file(), info.folders, "mean file of " + where);
  postLine(info.events, log::site::meanFile, "Loading mean file from: " + path);
  formats::Blob mean = formats::readBinaryProto(path);
  // The shape is 1 x C x H x W or C x H x W; in clips, L frames follow C.
  const bool ofClips = kind && kind->source == caffe::DataLayerSource::Videos;
  const std::size_t rank = ofClips ? 4 : 3;
  std::vector<std::int64_t> dims = mean.dims;
  if (dims.size() == rank + 1 && dims[0] == 1)
    dims.erase(dims.begin());
  if (dims.size() != rank)
    throw badInput(path + ": the mean image has shape " +
                   caffe::shapeText(mean.dims) + " instead of 1 x channels " +
                   (ofClips ? "x frames " : "") + "x height x width");
  meanShape = caffe::shapeText(dims);
  if (ofClips) { // the planes of all frames
    meanFrames = dims[1];
    dims[0] *= dims[1];
    dims.erase(dims.begin() + 1);
  }
  pixelMean = {std::move(dims), mean.toFloats()};
}

std::array<int, 3>
ImageTransformer::resultShape(const formats::ImageRecord &image) const {
  const caffe::CropSize crop = caffe::cropSizeOf(parameter);
  if (crop.rows)
    return {image.planes(), crop.rows, crop.columns};
  return {image.planes(), image.height, image.width};
}

void ImageTransformer::checkImage(const formats::ImageRecord &image,
                                  const std::string &where) const {
  const std::vector<std::int64_t> shape = {image.planes(), image.height,
                                           image.width};
  const caffe::CropSize crop = caffe::cropSizeOf(parameter);
  if (crop.rows > image.height || crop.columns > image.width)
    throw badInput(
        where + ": an image of " + image.shapeText() + " is smaller than " +
        (parameter.crop_size() ? "crop_size " + std::to_string(crop.rows)
                               : "the crop of " + std::to_string(crop.rows) +
                                     "x" + std::to_string(crop.columns)));
  if (parameter.has_mean_file() &&
      (shape != pixelMean.dims || image.frames != meanFrames))
    throw badInput(where + ": an image of " + image.shapeText() +
                   " does not fit the mean image of " + meanShape);
  const int means = parameter.mean_value_size();
  if (means > 1 && means != image.channels)
    throw badInput(where + ": " + std::to_string(means) +
                   " mean_values for an image of " +
                   std::to_string(image.channels) +
                   " channels; give one, or one for each channel");
}

CropAndMirror ImageTransformer::chooseCrop(const formats::ImageRecord &image,
                                           std::uint64_t record,
                                           const std::string &where) const {
  checkImage(image, where);
  const auto [channels, height, width] = resultShape(image);
  CropAndMirror result;
  // Each record uses four positions of the stream.
  result.mirrored = parameter.mirror() && stream.below(record * 4, 2) == 1;
  if (!caffe::cropSizeOf(parameter).rows)
    return result;
  const std::int64_t spareRows = image.height - height;
  const std::int64_t spareColumns = image.width - width;
  if (testPhase) {
    result.top = spareRows / 2;
    result.left = spareColumns / 2;
  } else {
    result.top =
        static_cast<std::int64_t>(stream.below(record * 4 + 1, spareRows + 1));
    result.left = static_cast<std::int64_t>(
        stream.below(record * 4 + 2, spareColumns + 1));
  }
  return result;
}

/// `in` is the first pixel of the crop; the strides are in elements, between
/// rows and between channels.
template <typename Pixel, typename Value>
void ImageTransformer::transform(const Pixel *in, std::int64_t rowStride,
                                 std::int64_t channelStride,
                                 const std::array<int, 3> &shape,
                                 const CropAndMirror &cropAndMirror,
                                 Value *result) const {
  const auto [channels, height, width] = shape;
  const auto scale = static_cast<Value>(parameter.scale());
  for (int c = 0; c < channels; ++c) {
    Value constant = 0;
    const int means = parameter.mean_value_size();
    if (means)
      constant = parameter.mean_value(means > 1 ? c / (channels / means) : 0);
    for (int h = 0; h < height; ++h) {
      const float *mean = nullptr;
      if (parameter.has_mean_file())
        mean = &pixelMean.values[static_cast<std::size_t>(
            (c * pixelMean.dims[1] + cropAndMirror.top + h) *
                pixelMean.dims[2] +
            cropAndMirror.left)];
      transformRow(in + c * channelStride + h * rowStride, mean, constant,
                   scale, width, cropAndMirror.mirrored,
                   result + (std::int64_t(c) * height + h) * width);
    }
  }
}

template <typename Value>
void ImageTransformer::apply(const formats::ImageRecord &image,
                             const CropAndMirror &cropAndMirror,
                             Value *result) const {
  const std::int64_t plane = std::int64_t(image.height) * image.width;
  const std::int64_t first =
      cropAndMirror.top * image.width + cropAndMirror.left;
  if (image.hasBytes())
    transform(image.pixels() + first, image.width, plane, resultShape(image),
              cropAndMirror, result);
  else
    transform(image.floats.data() + first, image.width, plane,
              resultShape(image), cropAndMirror, result);
}

template <typename Value>
void ImageTransformer::applyToPixels(const PixelBlock &block,
                                     const std::uint8_t *pixels,
                                     const std::array<int, 3> &shape,
                                     const CropAndMirror &cropAndMirror,
                                     Value *result) const {
  if (block.hasFullRecords)
    pixels += cropAndMirror.top * block.columns + cropAndMirror.left;
  transform(pixels, block.columns, block.rows * block.columns, shape,
            cropAndMirror, result);
}

void ImageTransformer::crop(const formats::ImageRecord &image,
                            const CropAndMirror &cropAndMirror,
                            const PixelBlock &block,
                            std::uint8_t *pixels) const {
  const auto [channels, height, width] = resultShape(image);
  for (int c = 0; c < channels; ++c)
    for (int h = 0; h < height; ++h)
      std::copy_n(image.pixels() +
                      (std::int64_t(c) * image.height + cropAndMirror.top + h) *
                          image.width +
                      cropAndMirror.left,
                  width, pixels + (c * block.rows + h) * block.columns);
}

template void ImageTransformer::apply(const formats::ImageRecord &,
                                      const CropAndMirror &, float *) const;
template void ImageTransformer::apply(const formats::ImageRecord &,
                                      const CropAndMirror &, double *) const;
template void ImageTransformer::applyToPixels(const PixelBlock &,
                                              const std::uint8_t *,
                                              const std::array<int, 3> &,
                                              const CropAndMirror &,
                                              float *) const;
template void ImageTransformer::applyToPixels(const PixelBlock &,
                                              const std::uint8_t *,
                                              const std::array<int, 3> &,
                                              const CropAndMirror &,
                                              double *) const;

} // namespace brew::runtime
