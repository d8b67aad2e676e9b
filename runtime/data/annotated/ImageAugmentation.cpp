//===- ImageAugmentation.cpp - SSD's image augmentation -------------------===//

#include "runtime/data/annotated/ImageAugmentation.h"

#include "runtime/opencv/OpenCv.h"

namespace brew::runtime {
namespace {

using formats::Image;

const OpenCvFunctions &openCv() {
  return openCvPlugin("transform AnnotatedData's images");
}

/// Returns the height and width with the original aspect ratio that fit within
/// the size in the settings or, without `fitWithin`, cover it.
std::pair<int, int> fittedSize(const caffe::ResizeParameter &settings,
                               int height, int width, bool fitWithin) {
  const auto newHeight = static_cast<int>(settings.height());
  const auto newWidth = static_cast<int>(settings.width());
  const float aspect = static_cast<float>(width) / height;
  const bool isWider = aspect > static_cast<float>(newWidth) / newHeight;
  const bool isTaller = aspect < static_cast<float>(newWidth) / newHeight;
  if (fitWithin ? isWider : isTaller)
    return {
        std::max(1, static_cast<int>(static_cast<float>(newWidth) / aspect)),
        newWidth};
  return {newHeight, std::max(1, static_cast<int>(aspect * newHeight))};
}

} // namespace

void requireImageAugmentation(const caffe::TransformationParameter &transform) {
  if (transform.has_distort_param() || transform.has_expand_param() ||
      transform.has_resize_param() || transform.has_noise_param())
    openCv();
}

void distort(Image &image, const caffe::DistortionParameter &settings,
             RandomDraws &draws) {
  openCv().distort(image, settings, draws);
}

Image expandImage(const Image &image, int height, int width, int top, int left,
                  const std::vector<float> &colour) {
  return openCv().expandImage(image, height, width, top, left, colour);
}

std::pair<int, int> resizedSize(const caffe::ResizeParameter &settings,
                                int height, int width) {
  if (settings.resize_mode() == caffe::ResizeParameter::FIT_SMALL_SIZE)
    return fittedSize(settings, height, width, /*fitWithin=*/false);
  return {static_cast<int>(settings.height()),
          static_cast<int>(settings.width())};
}

Image resizeImage(const Image &image, const caffe::ResizeParameter &settings,
                  RandomDraws &draws) {
  const bool pads =
      settings.resize_mode() == caffe::ResizeParameter::FIT_LARGE_SIZE_AND_PAD;
  const auto [height, width] =
      pads ? fittedSize(settings, image.height, image.width, /*fitWithin=*/true)
           : resizedSize(settings, image.height, image.width);
  return openCv().resizeImage(image, settings, height, width, draws);
}

void addNoise(Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws) {
  openCv().addNoise(image, settings, draws);
}

} // namespace brew::runtime
