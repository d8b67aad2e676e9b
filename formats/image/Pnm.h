//===- Pnm.h - Decoding of PBM, PGM and PPM images --------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>
#include <string>

namespace brew::formats {

/// Decodes a PBM, PGM or PPM file, plain or binary, to gray or B,G,R, as OpenCV
/// does: values of plain files are scaled to 255, values of binary files are
/// not; of 16 bits per sample the upper 8 remain. Sets `has16Bits`. Throws
/// Error(1) with `where` for damaged and truncated files.
void decodePnm(const void *bytes, std::size_t size, const std::string &where,
               Image &image, bool &has16Bits);

} // namespace brew::formats
