//===- ImageAugmentation.h - SSD's image augmentation -----------*- C++ -*-===//
//
// The operations that SSD's Caffe fork added to transform_param. They work on
// bytes, with OpenCV (extras/opencv) so that results are rounded as in that
// fork. All throw Error (1) for images that an operation does not support, and
// Error (3) if OpenCV is missing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "formats/image/ImageDecode.h"
#include "runtime/data/annotated/RandomDraws.h"

namespace brew::runtime {

/// Throws Error (3) if the settings need OpenCV and it is missing.
void requireImageAugmentation(const caffe::TransformationParameter &transform);

/// Changes brightness, contrast, saturation, hue and channel order at random.
void distort(formats::Image &image, const caffe::DistortionParameter &settings,
             RandomDraws &draws);

/// Returns an image of `height` x `width` in one colour, given as a value per
/// channel (empty: 0), that contains `image` at (top, left).
formats::Image expandImage(const formats::Image &image, int height, int width,
                           int top, int left, const std::vector<float> &colour);

/// Returns the height and width of the result of resizeImage().
std::pair<int, int> resizedSize(const caffe::ResizeParameter &settings,
                                int height, int width);
/// Resizes an image with one of the interpolations in the settings, chosen at
/// random, and pads it if the resize mode requires it.
formats::Image resizeImage(const formats::Image &image,
                           const caffe::ResizeParameter &settings,
                           RandomDraws &draws);

/// Applies the effects that the settings enable, such as blur, histogram
/// equalisation and compression.
void addNoise(formats::Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws);

} // namespace brew::runtime
