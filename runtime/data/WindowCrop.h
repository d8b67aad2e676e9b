//===- WindowCrop.h - Cropping and warping of windows -----------*- C++ -*-===//
#pragma once

#include "formats/WindowFile.h"

#include <cstdint>

namespace brew::runtime {

/// The region of an image to crop, the size to warp it to, and its offset in
/// the result of size x size; the rest of the result is padding.
struct WindowCrop {
  int left = 0, top = 0, width = 0, height = 0; ///< in the image
  int warpedWidth = 0, warpedHeight = 0;        ///< at least 1
  int offsetX = 0, offsetY = 0;                 ///< in the result
};

/// Computes the crop of a window as window_data_param says. `contextPad` is
/// less than half of `size`. Coordinates are rounded in the precision of the
/// blob, as Caffe does in its Dtype (float or double). Throws Error (1),
/// without the line of the window file, if the window lies outside the image,
/// or partly outside without padding.
template <typename Real>
WindowCrop computeCrop(const formats::Window &window, int imageWidth,
                       int imageHeight, int size, int contextPad, bool square,
                       bool mirrored);

} // namespace brew::runtime
