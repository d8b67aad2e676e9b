//===- ImageAugmentation.h - What AnnotatedData does to pixels ---------*- C++ -*-===//
//
// The steps of transform_param that SSD's Caffe fork added, on bytes, with
// OpenCV (runtime/opencv), so that they round as they do there. All throw
// Error (1) for images that a step cannot be taken of, and Error (3) if OpenCV
// is missing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "formats/image/ImageDecode.h"
#include "runtime/data/annotated/RandomDraws.h"

namespace brew::runtime {

/// Throws Error (3) if the settings need OpenCV and it is missing.
void requireImageAugmentation(const caffe::TransformationParameter &transform);

/// Random brightness, contrast, saturation, hue and order of the channels.
void distort(formats::Image &image, const caffe::DistortionParameter &settings,
             RandomDraws &draws);

/// `image` at (top, left) of a larger one of one colour, a value per channel
/// (none: 0).
formats::Image expanded(const formats::Image &image, int height, int width,
                        int top, int left, const std::vector<float> &colour);

/// Height and width of what resized() gives for an image of these.
std::pair<int, int> resizedSize(const caffe::ResizeParameter &settings,
                                int height, int width);
/// Resized, with padding, by one of the settings' interpolations.
formats::Image resized(const formats::Image &image,
                       const caffe::ResizeParameter &settings, RandomDraws &draws);

/// Blur, equalisation, compression and so on, whichever are asked for.
void addNoise(formats::Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws);

} // namespace brew::runtime
