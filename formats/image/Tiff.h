//===- Tiff.h - Decoding of TIFF images -------------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>
#include <string>

namespace brew::formats {

/// Decodes the first image of a TIFF file to gray, B,G,R or B,G,R,A by
/// libtiff's conversion to 8 bits, as OpenCV does. Opens libtiff when first
/// called. Sets `has16Bits` and `orientation` (1 to 8, as in Exif.h). Throws
/// Error(1) with `where` for damaged files, Error(3) without libtiff.
void decodeTiff(const void *bytes, std::size_t size, const std::string &where,
                Image &image, bool &has16Bits, int &orientation);

} // namespace brew::formats
