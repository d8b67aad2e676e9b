//===- WindowCrop.h - How a window is cut out and warped --------*- C++ -*-===//
#pragma once

#include "formats/WindowFile.h"

#include <cstdint>

namespace brew::runtime {

/// The part of an image that is cut out, what it is warped to, and where that
/// goes in the result of size x size; the rest of it is padding.
struct WindowCrop {
  int left = 0, top = 0, width = 0, height = 0; ///< in the image
  int warpedWidth = 0, warpedHeight = 0;        ///< at least 1
  int offsetX = 0, offsetY = 0;                 ///< in the result
};

/// As window_data_param says. `contextPad` is less than half of `size`.
/// Coordinates are rounded in the precision of the blob, as Caffe does in its
/// Dtype (float or double). Throws Error (1), without saying which window, if
/// nothing of it lies within the image or it does not lie within it and there
/// is no padding.
template <typename Real>
WindowCrop cropOf(const formats::Window &window, int imageWidth,
                  int imageHeight, int size, int contextPad, bool square,
                  bool mirrored);

} // namespace brew::runtime
