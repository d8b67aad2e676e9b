//===- Channels.h - Conversion of an image's channels -----------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstdint>
#include <string>

namespace brew::formats {

/// Returns the gray of a colour, with OpenCV's weights in units of 2^-14.
inline std::uint8_t grayOf(int blue, int green, int red) {
  return static_cast<std::uint8_t>(
      (blue * 1868 + green * 9617 + red * 4899 + 8192) >> 14);
}

/// Sets the size of an image and its pixels to 0. Throws Error(1) with `where`
/// if it would be empty or larger than kMaxImageBytes.
void resetPixels(Image &image, int channels, std::uint64_t height,
                 std::uint64_t width, const std::string &where);

/// Converts gray, B,G,R or B,G,R,A to the channels of `color`. Alpha is dropped
/// unless `color` is Native.
void convertChannels(Image &image, ImageColor color);

} // namespace brew::formats
