//===- ImageDecode.h - Decoding of images -----------------------*- C++ -*-===//
//
// Decodes the images of databases and image lists to the same bytes as OpenCV,
// and thus Caffe: rows of B,G,R or gray. Uses only libjpeg-turbo, libpng and
// own readers of BMP and PNM, to keep the runtime small; libtiff and libwebp
// are opened when the first TIFF or WebP image is read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::formats {

/// The number of channels to decode to.
enum class ImageColor {
  Native, ///< as stored: gray 1, colour 3, with transparency 4 (B,G,R,A)
  Color,  ///< always 3
  Gray,   ///< always 1
};

/// Maximum size of an image's pixels in bytes, and of a decoder's own memory,
/// such as the coefficients of a JPEG in several scans.
inline constexpr uint64_t kMaxImageBytes = uint64_t(1) << 30;

/// Interleaved rows, top to bottom: pixel (y, x), channel c is at
/// (y * width + x) * channels + c.
struct Image {
  int channels = 0, height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

/// Decodes a JPEG, PNG, BMP, PBM, PGM, PPM, TIFF or WebP file in memory. Unless
/// `color` is Native, applies the EXIF orientation and reduces 16 bits per
/// sample to the upper 8. Throws Error(1), prefixed with `where`, if the file
/// has another format, is damaged or truncated, would need more than 1 GB, or
/// has 16 bits per sample with `color` Native.
void decodeImage(const void *bytes, size_t size, ImageColor color,
                 const std::string &where, Image &image);

} // namespace brew::formats
