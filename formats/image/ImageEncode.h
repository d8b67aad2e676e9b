//===- ImageEncode.h - Pixels to JPEG and PNG -------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <optional>
#include <string>

namespace brew::formats {

enum class ImageFormat { Jpeg, Png };

/// The format of an extension in any case, with or without its point; nothing
/// for what Brew does not write.
std::optional<ImageFormat> imageFormatOf(const std::string &extension);

/// Encodes 1, 3 or (PNG) 4 channels as OpenCV's imencode does by default: JPEG
/// of `quality` (1 to 100), PNG with Sub filters, run lengths and the fastest
/// level. The bytes are OpenCV's where the libraries are. Error(1) for another
/// number of channels, Error(3) where the library fails.
std::string encodeImage(const Image &image, ImageFormat format,
                        int quality = 95);

} // namespace brew::formats
