//===- ImageAugmentation.cpp - SSD's image augmentation -------------------===//

#include "runtime/data/annotated/ImageAugmentation.h"

#include "runtime/opencv/OpenCv.h"

namespace brew::runtime {
namespace {

using formats::Image;

const OpenCvFunctions &functions() {
  return openCvPlugin("transform AnnotatedData's images");
}

/// The size with the original aspect ratio that fits within, or covers, the
/// size in the settings.
std::pair<int, int> fittedSize(const caffe::ResizeParameter &settings,
                               int height, int width, bool within) {
  const auto newHeight = static_cast<int>(settings.height());
  const auto newWidth = static_cast<int>(settings.width());
  const float aspect = static_cast<float>(width) / height;
  const bool isWider = aspect > static_cast<float>(newWidth) / newHeight;
  const bool isTaller = aspect < static_cast<float>(newWidth) / newHeight;
  if (within ? isWider : isTaller)
    return {
        std::max(1, static_cast<int>(static_cast<float>(newWidth) / aspect)),
        newWidth};
  return {newHeight, std::max(1, static_cast<int>(aspect * newHeight))};
}

} // namespace

void requireImageAugmentation(const caffe::TransformationParameter &transform) {
  if (transform.has_distort_param() || transform.has_expand_param() ||
      transform.has_resize_param() || transform.has_noise_param())
    functions();
}

void distort(Image &image, const caffe::DistortionParameter &settings,
             RandomDraws &draws) {
  functions().distort(image, settings, draws);
}

Image expanded(const Image &image, int height, int width, int top, int left,
               const std::vector<float> &colour) {
  return functions().expanded(image, height, width, top, left, colour);
}

std::pair<int, int> resizedSize(const caffe::ResizeParameter &settings,
                                int height, int width) {
  if (settings.resize_mode() == caffe::ResizeParameter::FIT_SMALL_SIZE)
    return fittedSize(settings, height, width, /*within=*/false);
  return {static_cast<int>(settings.height()),
          static_cast<int>(settings.width())};
}

Image resized(const Image &image, const caffe::ResizeParameter &settings,
              RandomDraws &draws) {
  const bool pads =
      settings.resize_mode() == caffe::ResizeParameter::FIT_LARGE_SIZE_AND_PAD;
  const auto [height, width] =
      pads ? fittedSize(settings, image.height, image.width, /*within=*/true)
           : resizedSize(settings, image.height, image.width);
  return functions().resized(image, settings, height, width, draws);
}

void addNoise(Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws) {
  functions().addNoise(image, settings, draws);
}

} // namespace brew::runtime
