//===- Bmp.h - Decoding of BMP images ---------------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>
#include <string>

namespace brew::formats {

/// Decodes a BMP file to gray (if all colours of its palette are gray), B,G,R,
/// or B,G,R,A (32 bits with masks), as OpenCV does. Reads the headers of
/// Windows and OS/2, palettes of 1, 4 and 8 bits, 16, 24 and 32 bits, and
/// run-length encoding. Throws Error(1) with `where` for other and truncated
/// files.
void decodeBmp(const void *bytes, std::size_t size, const std::string &where,
               Image &image);

} // namespace brew::formats
