//===- ImageSize.h - Sizes of encoded images --------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <array>
#include <cstddef>
#include <string>

namespace brew::formats {

/// Returns channels, height and width of the image that decodeImage() returns.
/// Reads only the header of common JPEG and PNG files and decodes other files,
/// so damage after the header may remain unnoticed. Throws as decodeImage()
/// does.
std::array<int, 3> imageShape(const void *bytes, std::size_t size,
                              ImageColor color, const std::string &where);

} // namespace brew::formats
