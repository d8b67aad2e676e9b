//===- Channels.cpp - Conversion of an image's channels -------------------===//
#include "formats/image/Channels.h"

#include "support/Error.h"

#include <algorithm>

namespace brew::formats {

void resetPixels(Image &image, int channels, std::uint64_t height,
                 std::uint64_t width, const std::string &where) {
  if (height == 0 || width == 0)
    throw badInput(where + ": cannot decode the image: it is empty");
  if (height > kMaxImageBytes || width > kMaxImageBytes ||
      height * width > kMaxImageBytes / static_cast<std::uint64_t>(channels))
    throw badInput(where + ": cannot decode the image: the image is too large");
  image.channels = channels;
  image.height = static_cast<int>(height);
  image.width = static_cast<int>(width);
  image.pixels.assign(height * width * static_cast<std::uint64_t>(channels), 0);
}

void convertChannels(Image &image, ImageColor color) {
  const int channels = color == ImageColor::Native  ? image.channels
                       : color == ImageColor::Color ? 3
                                                    : 1;
  if (channels == image.channels)
    return;
  const std::size_t pixels = static_cast<std::size_t>(image.height) *
                             static_cast<std::size_t>(image.width);
  const auto from = static_cast<std::size_t>(image.channels),
             to = static_cast<std::size_t>(channels);
  std::vector<std::uint8_t> result(pixels * to);
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint8_t *source = &image.pixels[i * from];
    std::uint8_t *target = &result[i * to];
    if (from == 1)
      std::fill_n(target, to, *source);
    else if (to == 1)
      *target = grayOf(source[0], source[1], source[2]);
    else
      std::copy_n(source, to, target);
  }
  image.channels = channels;
  image.pixels = std::move(result);
}

} // namespace brew::formats
