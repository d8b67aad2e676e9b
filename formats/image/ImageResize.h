//===- ImageResize.h - Bilinear resizing of bytes ---------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

namespace brew::formats {

/// Resizes an image as OpenCV's INTER_LINEAR does, to the bit: pixel centres at
/// half integers, weights of 11 bits, sums of integers. Both extents of the
/// result are at least 1; an image that has them already is copied. `result` is
/// not `image`.
void resizeImage(const Image &image, int height, int width, Image &result);

/// The part of an image from (top, left) on; it lies within the image.
Image cropImage(const Image &image, int top, int left, int height, int width);

} // namespace brew::formats
