//===- Exif.cpp - Orientation of JPEG images ------------------------------===//
#include "formats/image/Exif.h"

#include <cstring>

namespace brew::formats {
namespace {

/// Bytes, with a bounds check and access to numbers in either byte order.
struct Bytes {
  const uint8_t *data;
  size_t size;
  bool bigEndian = true;

  bool has(size_t at, size_t count) const {
    return at <= size && count <= size - at;
  }
  uint32_t readNumber(size_t at, size_t count) const {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value = value << 8 | data[at + (bigEndian ? i : count - 1 - i)];
    return value;
  }
};

} // namespace

int exifOrientation(const void *block, size_t size) {
  Bytes tiff{static_cast<const uint8_t *>(block), size};
  constexpr uint32_t kOrientation = 0x0112, kShort = 3, kMagic = 42;
  constexpr size_t kHeader = 8, kEntry = 12;
  if (!tiff.has(0, kHeader))
    return 1;
  // The block begins with its byte order, "MM" or "II".
  tiff.bigEndian = tiff.data[0] == 'M';
  if (tiff.readNumber(2, 2) != kMagic)
    return 1;
  const size_t directory = tiff.readNumber(4, 4);
  if (!tiff.has(directory, 2))
    return 1;
  const size_t entries = tiff.readNumber(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t at = directory + 2 + i * kEntry;
    if (!tiff.has(at, kEntry))
      return 1;
    if (tiff.readNumber(at, 2) != kOrientation)
      continue;
    const uint32_t value = tiff.readNumber(at + 8, 2);
    return tiff.readNumber(at + 2, 2) == kShort && value >= 1 && value <= 8
               ? static_cast<int>(value)
               : 1;
  }
  return 1;
}

int jpegOrientation(const void *bytes, size_t size) {
  constexpr uint8_t kMarker = 0xff, kApp1 = 0xe1, kScan = 0xda, kEnd = 0xd9;
  const Bytes file{static_cast<const uint8_t *>(bytes), size};
  for (size_t at = 2; file.has(at, 4);) {
    if (file.data[at] != kMarker)
      return 1;
    const uint8_t marker = file.data[at + 1];
    if (marker == kMarker) { // fill bytes before a marker
      ++at;
      continue;
    }
    if (marker == kScan || marker == kEnd)
      return 1;
    const size_t length = file.readNumber(at + 2, 2);
    if (length < 2 || !file.has(at + 2, length))
      return 1;
    const uint8_t *block = file.data + at + 4;
    constexpr char kExif[] = "Exif\0"; // and another zero
    if (marker == kApp1 && length - 2 >= sizeof kExif &&
        std::memcmp(block, kExif, sizeof kExif) == 0)
      return exifOrientation(block + sizeof kExif, length - 2 - sizeof kExif);
    at += 2 + length;
  }
  return 1;
}

void applyOrientation(int orientation, Image &image) {
  if (orientation <= 1 || orientation > 8)
    return;
  // The corner where the file's pixel (0, 0) is shown: top right for 2, bottom
  // right for 3, bottom left for 4. From 5 on, rows and columns are swapped as
  // well.
  const bool transposed = orientation >= 5;
  const bool mirrored = orientation == 2 || orientation == 3 ||
                        orientation == 6 || orientation == 7;
  const bool flipped = orientation == 3 || orientation == 4 ||
                       orientation == 7 || orientation == 8;
  Image upright;
  upright.channels = image.channels;
  upright.height = transposed ? image.width : image.height;
  upright.width = transposed ? image.height : image.width;
  upright.pixels.resize(image.pixels.size());
  const auto channels = static_cast<size_t>(image.channels);
  for (int y = 0; y < upright.height; ++y)
    for (int x = 0; x < upright.width; ++x) {
      const int sourceY = flipped ? upright.height - 1 - y : y;
      const int sourceX = mirrored ? upright.width - 1 - x : x;
      const size_t source = transposed
                                ? size_t(sourceX) * image.width + sourceY
                                : size_t(sourceY) * image.width + sourceX;
      std::memcpy(&upright.pixels[(size_t(y) * upright.width + x) * channels],
                  &image.pixels[source * channels], channels);
    }
  image = std::move(upright);
}

} // namespace brew::formats
