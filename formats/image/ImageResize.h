//===- ImageResize.h - Bilinear resizing of bytes ---------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

namespace brew::formats {

/// Resizes an image, bitwise equal to OpenCV's INTER_LINEAR: pixel centres at
/// half integers, weights of 11 bits, integer sums. `height` and `width` must
/// be at least 1; an image of this size is copied. `result` must not be
/// `image`.
void resizeImage(const Image &image, int height, int width, Image &result);

/// Returns a resized image whose pixels are copies, as OpenCV's INTER_NEAREST.
Image resizeByCopying(const Image &image, int height, int width);

/// Returns the region of an image that begins at (top, left). The region must
/// lie within the image.
Image cropImage(const Image &image, int top, int left, int height, int width);

} // namespace brew::formats
