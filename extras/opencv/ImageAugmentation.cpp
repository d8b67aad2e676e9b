//===- ImageAugmentation.cpp - AnnotatedData's image steps, with OpenCV ---===//

#include "extras/opencv/Plugin.h"

#include "formats/image/ImageEncode.h"
#include "runtime/data/annotated/RandomDraws.h"
#include "support/Error.h"

#include <opencv2/imgproc.hpp>

#include <cmath>

namespace brew::runtime::opencv {
namespace {

using formats::Image;

/// Returns a view of the image's memory.
cv::Mat matOf(Image &image) {
  return cv::Mat(image.height, image.width, CV_8UC(image.channels),
                 image.pixels.data());
}
cv::Mat matOf(const Image &image) { return matOf(const_cast<Image &>(image)); }

Image imageOf(const cv::Mat &mat) {
  Image image;
  image.channels = mat.channels();
  image.height = mat.rows;
  image.width = mat.cols;
  image.pixels.resize(mat.total() * mat.elemSize());
  cv::Mat target = matOf(image);
  mat.copyTo(target);
  return image;
}

void requireColor(const cv::Mat &mat, const char *setting) {
  if (mat.channels() != 3)
    throw badInput(std::string(setting) + " needs images of 3 channels, not " +
                   std::to_string(mat.channels()));
}

/// Applies `factor` and `offset` to one channel of the image in HSV.
void scaleChannel(cv::Mat &mat, std::size_t channel, double factor,
                  double offset) {
  cv::Mat hsv;
  cv::cvtColor(mat, hsv, cv::COLOR_BGR2HSV);
  std::vector<cv::Mat> channels;
  cv::split(hsv, channels);
  channels[channel].convertTo(channels[channel], -1, factor, offset);
  cv::merge(channels, hsv);
  cv::cvtColor(hsv, mat, cv::COLOR_HSV2BGR);
}

/// The random distortion of one image.
class Distortion {
public:
  Distortion(cv::Mat &mat, const caffe::DistortionParameter &settings,
             RandomDraws &draws)
      : mat(mat), settings(settings), draws(draws) {}

  void run() {
    // Contrast comes second or last.
    const bool isContrastSecond = draws.uniform(0, 1) > 0.5F;
    changeBrightness();
    if (isContrastSecond)
      changeContrast();
    changeSaturation();
    changeHue();
    if (!isContrastSecond)
      changeContrast();
    changeChannelOrder();
  }

private:
  bool drawEvent(float probability) {
    return draws.uniform(0, 1) < probability;
  }

  void changeBrightness() {
    if (!drawEvent(settings.brightness_prob()))
      return;
    const float offset = draws.uniform(-settings.brightness_delta(),
                                       settings.brightness_delta());
    if (offset != 0)
      mat.convertTo(mat, -1, 1, offset);
  }
  void changeContrast() {
    if (!drawEvent(settings.contrast_prob()))
      return;
    const float factor =
        draws.uniform(settings.contrast_lower(), settings.contrast_upper());
    if (std::fabs(factor - 1) > 1e-3)
      mat.convertTo(mat, -1, factor, 0);
  }
  void changeSaturation() {
    if (!drawEvent(settings.saturation_prob()))
      return;
    requireColor(mat, "saturation_prob");
    scaleChannel(
        mat, 1,
        draws.uniform(settings.saturation_lower(), settings.saturation_upper()),
        0);
  }
  void changeHue() {
    if (!drawEvent(settings.hue_prob()))
      return;
    requireColor(mat, "hue_prob");
    const float offset =
        draws.uniform(-settings.hue_delta(), settings.hue_delta());
    if (offset != 0)
      scaleChannel(mat, 0, 1, offset);
  }
  void changeChannelOrder() {
    if (!drawEvent(settings.random_order_prob()))
      return;
    requireColor(mat, "random_order_prob");
    std::vector<cv::Mat> channels;
    cv::split(mat, channels);
    for (std::size_t i = channels.size() - 1; i > 0; --i)
      std::swap(channels[i], channels[draws.below(i + 1)]);
    cv::merge(channels, mat);
  }

  cv::Mat &mat;
  const caffe::DistortionParameter &settings;
  RandomDraws &draws;
};

int interpolationOf(const caffe::ResizeParameter &settings,
                    RandomDraws &draws) {
  if (settings.interp_mode_size() == 0)
    return cv::INTER_LINEAR;
  const auto index = static_cast<int>(
      draws.below(static_cast<std::uint64_t>(settings.interp_mode_size())));
  switch (settings.interp_mode(index)) {
  case caffe::ResizeParameter::LINEAR:
    return cv::INTER_LINEAR;
  case caffe::ResizeParameter::AREA:
    return cv::INTER_AREA;
  case caffe::ResizeParameter::NEAREST:
    return cv::INTER_NEAREST;
  case caffe::ResizeParameter::CUBIC:
    return cv::INTER_CUBIC;
  case caffe::ResizeParameter::LANCZOS4:
    return cv::INTER_LANCZOS4;
  }
  return cv::INTER_LINEAR;
}

int borderOf(const caffe::ResizeParameter &settings) {
  switch (settings.pad_mode()) {
  case caffe::ResizeParameter::MIRRORED:
    return cv::BORDER_REFLECT_101;
  case caffe::ResizeParameter::REPEAT_NEAREST:
    return cv::BORDER_REPLICATE;
  case caffe::ResizeParameter::CONSTANT:
    break;
  }
  return cv::BORDER_CONSTANT;
}

/// Converts one value for all channels, or one per channel; no values: 0.
template <typename Values>
cv::Scalar scalarOf(const Values &values, int channels, const char *setting) {
  const auto count = static_cast<int>(values.size());
  if (count > 1 && count != channels)
    throw badInput(std::string(setting) + " is given " + std::to_string(count) +
                   " times for images of " + std::to_string(channels) +
                   " channels; give one, or one for each channel");
  cv::Scalar scalar(0, 0, 0, 0);
  for (int c = 0; count > 0 && c < std::min(channels, 4); ++c)
    scalar[c] = values[count > 1 ? c : 0];
  return scalar;
}

/// Applies `change` to a grey image or to the luminance of a colour image.
template <typename Change> void changeLuminance(cv::Mat &mat, Change change) {
  if (mat.channels() == 1) {
    cv::Mat result;
    change(mat, result);
    mat = result;
    return;
  }
  requireColor(mat, "hist_eq and clahe");
  cv::Mat luminance;
  cv::cvtColor(mat, luminance, cv::COLOR_BGR2YCrCb);
  std::vector<cv::Mat> planes;
  cv::split(luminance, planes);
  cv::Mat result;
  change(planes[0], result);
  planes[0] = result;
  cv::merge(planes, luminance);
  cv::cvtColor(luminance, mat, cv::COLOR_YCrCb2BGR);
}

/// Reduces each channel to four values.
void posterize(cv::Mat &mat) {
  constexpr int kStep = 64;
  cv::Mat table(1, 256, CV_8U);
  for (int i = 0; i < 256; ++i)
    table.at<std::uint8_t>(i) =
        static_cast<std::uint8_t>(i / kStep * kStep + kStep / 2);
  cv::LUT(mat, table, mat);
}

void addSaltAndPepper(cv::Mat &mat, const caffe::SaltPepperParameter &settings,
                      RandomDraws &draws) {
  const cv::Scalar value =
      scalarOf(settings.value(), mat.channels(), "value of saltpepper_param");
  const int pixels = static_cast<int>(
      std::floor(settings.fraction() * static_cast<float>(mat.cols) *
                 static_cast<float>(mat.rows)));
  for (int k = 0; k < pixels; ++k) {
    const auto x = draws.below(static_cast<std::uint64_t>(mat.cols));
    const auto y = draws.below(static_cast<std::uint64_t>(mat.rows));
    std::uint8_t *pixel = mat.ptr<std::uint8_t>(static_cast<int>(y)) +
                          x * static_cast<std::size_t>(mat.channels());
    for (int c = 0; c < mat.channels(); ++c)
      pixel[c] = static_cast<std::uint8_t>(value[c]);
  }
}

/// Applies JPEG compression of that quality; the result is in colour.
void compress(cv::Mat &mat, int quality) {
  Image result;
  const std::string bytes =
      formats::encodeImage(imageOf(mat), formats::ImageFormat::Jpeg, quality);
  formats::decodeImage(bytes.data(), bytes.size(), formats::ImageColor::Color,
                       "noise_param", result);
  mat = matOf(result).clone();
}

} // namespace

void distort(Image &image, const caffe::DistortionParameter &settings,
             RandomDraws &draws) {
  cv::Mat mat = matOf(image);
  Distortion(mat, settings, draws).run();
  if (mat.data != image.pixels.data())
    image = imageOf(mat);
}

Image expandImage(const Image &image, int height, int width, int top, int left,
                  const std::vector<float> &colour) {
  cv::Mat result(height, width, CV_8UC(image.channels),
                 scalarOf(colour, image.channels, "mean_value"));
  matOf(image).copyTo(result(cv::Rect(left, top, image.width, image.height)));
  return imageOf(result);
}

Image resizeImage(const Image &image, const caffe::ResizeParameter &settings,
                  int height, int width, RandomDraws &draws) {
  cv::Mat result;
  cv::resize(matOf(image), result, cv::Size(width, height), 0, 0,
             interpolationOf(settings, draws));
  if (settings.resize_mode() ==
      caffe::ResizeParameter::FIT_LARGE_SIZE_AND_PAD) {
    const int rows = static_cast<int>(settings.height()) - height;
    const int columns = static_cast<int>(settings.width()) - width;
    cv::copyMakeBorder(
        result, result, rows / 2, rows - rows / 2, columns / 2,
        columns - columns / 2, borderOf(settings),
        scalarOf(settings.pad_value(), image.channels, "pad_value"));
  }
  return imageOf(result);
}

void addNoise(Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws) {
  cv::Mat mat = matOf(image).clone();
  if (settings.decolorize()) {
    requireColor(mat, "decolorize");
    cv::Mat grey;
    cv::cvtColor(mat, grey, cv::COLOR_BGR2GRAY);
    cv::cvtColor(grey, mat, cv::COLOR_GRAY2BGR);
  }
  if (settings.gauss_blur())
    cv::GaussianBlur(mat, mat, cv::Size(7, 7), 1.5);
  if (settings.hist_eq())
    changeLuminance(mat, [](const cv::Mat &in, cv::Mat &out) {
      cv::equalizeHist(in, out);
    });
  if (settings.clahe())
    changeLuminance(mat, [](const cv::Mat &in, cv::Mat &out) {
      constexpr double kClipLimit = 4;
      cv::createCLAHE(kClipLimit)->apply(in, out);
    });
  if (settings.jpeg() > 0)
    compress(mat, static_cast<int>(settings.jpeg()));
  if (settings.erode())
    cv::erode(mat, mat,
              cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(3, 3),
                                        cv::Point(1, 1)));
  if (settings.posterize())
    posterize(mat);
  if (settings.inverse())
    cv::bitwise_not(mat, mat);
  if (settings.saltpepper())
    addSaltAndPepper(mat, settings.saltpepper_param(), draws);
  if (settings.convert_to_hsv()) {
    requireColor(mat, "convert_to_hsv");
    cv::cvtColor(mat, mat, cv::COLOR_BGR2HSV);
  }
  image = imageOf(mat);
}

} // namespace brew::runtime::opencv
