//===- ImageEncode.h - Encoding of JPEG and PNG -----------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <optional>
#include <string>

namespace brew::formats {

enum class ImageFormat { Jpeg, Png };

/// Returns the format of a file extension in any case, with or without its dot;
/// nullopt for formats that Brew does not write.
std::optional<ImageFormat> imageFormatOf(const std::string &extension);

/// Encodes 1, 3 or (PNG only) 4 channels as OpenCV's imencode does by default:
/// a JPEG of `quality` (1 to 100), or a PNG with Sub filters, run-length
/// encoding and the fastest compression level. The bytes equal OpenCV's if it
/// uses the same libraries. Throws Error(1) for another number of channels,
/// Error(3) if the library fails.
std::string encodeImage(const Image &image, ImageFormat format,
                        int quality = 95);

} // namespace brew::formats
