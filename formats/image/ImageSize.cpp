//===- ImageSize.cpp - Sizes of encoded images ----------------------------===//
#include "formats/image/ImageSize.h"

#include "formats/image/Exif.h"

#include <optional>
#include <string_view>

namespace brew::formats {
namespace {

using namespace std::string_view_literals;

/// Reads big-endian numbers; the caller checks the range.
int numberAt(const std::uint8_t *bytes, std::size_t count) {
  int value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = value << 8 | bytes[i];
  return value;
}

/// Returns the shape in a JPEG file's frame header, if it is found.
std::optional<std::array<int, 3>> jpegShape(const std::uint8_t *bytes,
                                            std::size_t size) {
  // Segments: 0xff, a marker, and a length that counts its own two bytes.
  for (std::size_t at = 2; size >= 10 && at <= size - 10;) {
    const int marker = bytes[at + 1];
    if (bytes[at] != 0xff || marker == 0xff || marker < 0xc0 ||
        (marker >= 0xd0 && marker <= 0xda))
      return std::nullopt;
    const bool isFrame =
        marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (isFrame)
      return std::array<int, 3>{bytes[at + 9] == 1 ? 1 : 3,
                                numberAt(bytes + at + 5, 2),
                                numberAt(bytes + at + 7, 2)};
    at += 2 + static_cast<std::size_t>(numberAt(bytes + at + 2, 2));
  }
  return std::nullopt;
}

/// Returns the shape in a PNG file's header, unless it depends on more.
std::optional<std::array<int, 3>> pngShape(const std::uint8_t *bytes,
                                           std::size_t size, ImageColor color) {
  constexpr std::size_t kHeaderBytes = 33;
  const std::string_view file(reinterpret_cast<const char *>(bytes), size);
  if (size < kHeaderBytes || color == ImageColor::Native || bytes[16] >> 7 ||
      bytes[20] >> 7 || file.find("eXIf"sv) != file.npos)
    return std::nullopt;
  return std::array<int, 3>{3, numberAt(bytes + 20, 4),
                            numberAt(bytes + 16, 4)};
}

} // namespace

std::array<int, 3> imageShape(const void *bytes, std::size_t size,
                              ImageColor color, const std::string &where) {
  const auto *head = static_cast<const std::uint8_t *>(bytes);
  const std::string_view file(static_cast<const char *>(bytes), size);
  std::optional<std::array<int, 3>> shape;
  if (file.substr(0, 2) == "\xff\xd8"sv) {
    shape = jpegShape(head, size);
    const bool isTurned = color != ImageColor::Native && shape &&
                          jpegOrientation(bytes, size) > 4;
    if (isTurned)
      std::swap((*shape)[1], (*shape)[2]);
  } else if (file.substr(0, 8) == "\x89PNG\r\n\x1a\n"sv) {
    shape = pngShape(head, size, color);
  }
  // The number of lines may be stored after the first scan.
  if (!shape || (*shape)[1] == 0 || (*shape)[2] == 0) {
    Image image;
    decodeImage(bytes, size, color, where, image);
    return {image.channels, image.height, image.width};
  }
  if (color != ImageColor::Native)
    (*shape)[0] = color == ImageColor::Gray ? 1 : 3;
  return *shape;
}

} // namespace brew::formats
