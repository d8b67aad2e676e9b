//===- ImageFitter.cpp - Preparation of images for inference --------------===//

#include "runtime/data/ImageFitter.h"

#include "caffe/weights/BufferLayout.h"
#include "formats/BinaryProto.h"
#include "formats/image/ImageResize.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace brew::runtime {
namespace {

using caffe::product;
using Shape = std::vector<std::int64_t>;

/// Bilinear resize of one plane of floats with pixel centres at half integers,
/// like OpenCV's INTER_LINEAR.
void resizePlane(const float *in, std::int64_t height, std::int64_t width,
                 std::int64_t newHeight, std::int64_t newWidth, float *out) {
  // Finds the two source pixels to interpolate; returns the weight of `high`.
  auto locate = [](std::int64_t index, std::int64_t from, std::int64_t to,
                   std::int64_t &low, std::int64_t &high) {
    const double at = (index + 0.5) * double(from) / double(to) - 0.5;
    const double clamped = std::clamp(at, 0.0, double(from - 1));
    low = static_cast<std::int64_t>(clamped);
    high = std::min(low + 1, from - 1);
    return static_cast<float>(clamped - double(low));
  };
  for (std::int64_t y = 0; y < newHeight; ++y) {
    std::int64_t top, bottom;
    const float v = locate(y, height, newHeight, top, bottom);
    for (std::int64_t x = 0; x < newWidth; ++x) {
      std::int64_t left, right;
      const float u = locate(x, width, newWidth, left, right);
      const float above =
          in[top * width + left] * (1 - u) + in[top * width + right] * u;
      const float below =
          in[bottom * width + left] * (1 - u) + in[bottom * width + right] * u;
      out[y * newWidth + x] = above * (1 - v) + below * v;
    }
  }
}

/// Returns the mean of each channel of planes, whose values divide evenly.
std::vector<float> meansOfChannels(const std::vector<float> &values,
                                   std::int64_t channels) {
  std::vector<float> means;
  const std::size_t plane = values.size() / static_cast<std::size_t>(channels);
  for (std::size_t begin = 0; begin < values.size(); begin += plane) {
    double sum = 0;
    for (std::size_t i = 0; i < plane; ++i)
      sum += values[begin + i];
    means.push_back(static_cast<float>(sum / static_cast<double>(plane)));
  }
  return means;
}

} // namespace

ImageFitter::ImageFitter(Shape rowShape, Preprocessing steps,
                         const std::string &path)
    : shape(std::move(rowShape)), preprocessing(std::move(steps)) {
  if (shape.size() != 3)
    throw badInput(path + ": images need an input of channels x height x "
                          "width; give HDF5 for this net");
  const bool resizes =
      preprocessing.resizeHeight != 0 || preprocessing.resizeWidth != 0;
  resizedHeight = resizes ? preprocessing.resizeHeight : shape[1];
  resizedWidth = resizes ? preprocessing.resizeWidth : shape[2];
}

formats::ImageColor ImageFitter::color() const {
  return shape[0] == 1   ? formats::ImageColor::Gray
         : shape[0] == 3 ? formats::ImageColor::Color
                         : formats::ImageColor::Native;
}

/// `planes` contains channels x height x width values.
void ImageFitter::fit(const std::vector<float> &planes, std::int64_t channels,
                      std::int64_t height, std::int64_t width,
                      const std::string &where, std::vector<float> &row) const {
  if (channels != shape[0])
    throw badInput(where + ": has " + std::to_string(channels) +
                   " channels; the net takes " + std::to_string(shape[0]));
  const std::int64_t plane = shape[1] * shape[2];
  row.resize(static_cast<std::size_t>(plane * channels));
  std::vector<float> resized;
  for (std::int64_t c = 0; c < channels; ++c) {
    float *to = &row[c * plane];
    const float *from = &planes[c * height * width];
    if (height != resizedHeight || width != resizedWidth) {
      resized.resize(static_cast<std::size_t>(resizedHeight * resizedWidth));
      resizePlane(from, height, width, resizedHeight, resizedWidth,
                  resized.data());
      from = resized.data();
    }
    const std::int64_t top = (resizedHeight - shape[1]) / 2,
                       left = (resizedWidth - shape[2]) / 2;
    for (std::int64_t y = 0; y < shape[1]; ++y)
      std::copy_n(from + (top + y) * resizedWidth + left, shape[2],
                  to + y * shape[2]);
    const auto &means = preprocessing.channelMeans;
    const float constant = means.empty() ? 0 : means[means.size() > 1 ? c : 0];
    for (std::int64_t i = 0; i < plane; ++i) {
      const float mean = preprocessing.meanImage.empty()
                             ? constant
                             : preprocessing.meanImage[c * plane + i];
      to[i] = (to[i] - mean) * preprocessing.scale;
    }
  }
}

void ImageFitter::fit(const formats::Image &image, const std::string &where,
                      std::vector<float> &row) const {
  const bool fits =
      image.height == resizedHeight && image.width == resizedWidth;
  formats::Image resized;
  if (!fits)
    formats::resizeImage(image, static_cast<int>(resizedHeight),
                         static_cast<int>(resizedWidth), resized);
  formats::ImageRecord record;
  formats::setImage(fits ? image : resized, record);
  fit({record.bytes.begin(), record.bytes.end()}, record.channels,
      record.height, record.width, where, row);
}

void ImageFitter::fit(const formats::ImageRecord &image,
                      const std::string &where, std::vector<float> &row) const {
  if (!image.bytes.empty() &&
      (image.height != resizedHeight || image.width != resizedWidth)) {
    formats::Image interleaved;
    interleaved.channels = image.channels;
    interleaved.height = image.height;
    interleaved.width = image.width;
    const std::size_t plane = std::size_t(image.height) * image.width;
    const auto channels = static_cast<std::size_t>(image.channels);
    interleaved.pixels.resize(image.bytes.size());
    for (std::size_t i = 0; i < interleaved.pixels.size(); ++i)
      interleaved.pixels[i] = image.bytes[i % channels * plane + i / channels];
    return fit(interleaved, where, row);
  }
  std::vector<float> planes(image.size());
  for (std::size_t i = 0; i < planes.size(); ++i)
    planes[i] = image.value(i);
  fit(planes, image.channels, image.height, image.width, where, row);
}

void readMean(const std::string &text, const Shape &shape,
              Preprocessing &preprocessing) {
  std::vector<float> values;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    const std::optional<float> value =
        first < end
            ? parseFloat(std::string_view(text).substr(first, end - first))
            : std::nullopt;
    if (!value) { // not a number: a file name
      values.clear();
      break;
    }
    values.push_back(*value);
    begin = end + 1;
  }
  if (!values.empty()) {
    if (shape.empty() || (values.size() > 1 &&
                          static_cast<std::int64_t>(values.size()) != shape[0]))
      throw badInput("mean " + text +
                     ": give one value, or one for each "
                     "channel of the input");
    setMean(values, shape, preprocessing);
    return;
  }
  const formats::Blob mean = formats::readBinaryProto(text);
  Shape dims = mean.dims;
  if (dims.size() == shape.size() + 1 && dims[0] == 1)
    dims.erase(dims.begin());
  std::vector<float> image = mean.toFloats();
  if (dims.size() != shape.size() || dims.empty() || dims[0] != shape[0] ||
      image.empty())
    throw badInput(text + ": the mean image is " +
                   formats::dimsText(mean.dims) + "; the net takes " +
                   formats::dimsText(shape));
  // Images of another height and width may have the same number of values.
  setMean(dims == shape ? image : meansOfChannels(image, shape[0]), shape,
          preprocessing);
}

void setMean(const std::vector<float> &values, const Shape &shape,
             Preprocessing &preprocessing) {
  preprocessing.channelMeans.clear();
  preprocessing.meanImage.clear();
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t channels = shape.empty() ? 1 : shape[0];
  if (count == product(shape) && count > channels) {
    preprocessing.meanImage = values;
  } else if (count <= 1 || count == channels) {
    preprocessing.channelMeans = values;
  } else if (count % channels == 0) {
    preprocessing.channelMeans = meansOfChannels(values, channels);
  } else {
    throw badInput("a mean of " + std::to_string(count) +
                   " values does not fit images of " +
                   formats::dimsText(shape));
  }
}

} // namespace brew::runtime
