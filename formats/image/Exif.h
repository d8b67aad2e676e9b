//===- Exif.h - Orientation of JPEG images ----------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>

namespace brew::formats {

/// Returns the orientation, 1 to 8, from a JPEG file's EXIF block. Returns 1
/// (upright) if the file has no such block or a damaged one.
int jpegOrientation(const void *bytes, size_t size);

/// Returns the orientation from an EXIF block (a TIFF header and directory), or
/// 1 if it has none or is damaged.
int exifOrientation(const void *block, size_t size);

/// Rotates and mirrors an image to the upright orientation.
void applyOrientation(int orientation, Image &image);

} // namespace brew::formats
