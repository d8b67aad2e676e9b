//===- ImageAugmentation.h - SSD's image augmentation -----------*- C++ -*-===//
//
// The operations that SSD's Caffe fork added to transform_param, on bytes, with
// OpenCV (extras/opencv) for equal rounding. All throw Error (1) for images
// that an operation does not support, and Error (3) if OpenCV is missing.
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

/// Returns a larger image of one colour, a value per channel (empty: 0), with
/// `image` at (top, left).
formats::Image expanded(const formats::Image &image, int height, int width,
                        int top, int left, const std::vector<float> &colour);

/// Height and width of the result of resized().
std::pair<int, int> resizedSize(const caffe::ResizeParameter &settings,
                                int height, int width);
/// Resizes with padding, by one of the settings' interpolations.
formats::Image resized(const formats::Image &image,
                       const caffe::ResizeParameter &settings,
                       RandomDraws &draws);

/// Applies blur, equalisation, compression and so on, as the settings say.
void addNoise(formats::Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws);

} // namespace brew::runtime
