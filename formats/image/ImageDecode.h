//===- ImageDecode.h - JPEG and PNG to pixels -------------------*- C++ -*-===//
//
// Images that databases and image lists hold as encoded files, decoded to the
// bytes OpenCV (and so Caffe) would give: rows of B,G,R or gray. Only
// libjpeg-turbo and libpng are used, to keep the runtime small.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::formats {

/// How many channels to decode to.
enum class ImageColor {
  Native, ///< as stored: gray 1, colour 3, with transparency 4 (B,G,R,A)
  Color,  ///< always 3
  Gray,   ///< always 1
};

/// What an image's pixels may take, in bytes; and so much again what a decoder
/// holds meanwhile: of a JPEG in several scans, all coefficients.
inline constexpr uint64_t kMaxImageBytes = uint64_t(1) << 30;

/// Interleaved rows, top to bottom: pixel (y, x), channel c is at
/// (y * width + x) * channels + c.
struct Image {
  int channels = 0, height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

/// Decodes one JPEG or PNG file held in memory. Unless it is read as it is
/// stored, it is turned as its EXIF orientation says, and of 16 bits per sample
/// the upper 8 are taken. Error(1), with `where` in front, if it is neither, is
/// damaged or truncated, has 16 bits per sample and is read as it is stored, or
/// would take more than 1 GB.
void decodeImage(const void *bytes, size_t size, ImageColor color,
                 const std::string &where, Image &image);

} // namespace brew::formats
