//===- Exif.h - How a JPEG file is to be turned -----------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>

namespace brew::formats {

/// The orientation, 1 to 8, that a JPEG file's EXIF block states; 1, which is
/// upright, where there is none or it is damaged.
int jpegOrientation(const void *bytes, size_t size);

/// The same of an EXIF block, which is a TIFF header and directory.
int exifOrientation(const void *block, size_t size);

/// Turns and mirrors an image so that it stands upright.
void applyOrientation(int orientation, Image &image);

} // namespace brew::formats
