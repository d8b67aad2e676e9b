//===- WebP.h - Decoding of WebP images -------------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>
#include <string>

namespace brew::formats {

/// Decodes a WebP file to B,G,R, or B,G,R,A if it has transparency, by libwebp,
/// which is opened at the first call. Throws Error(1) with `where` for damaged
/// files and animations, Error(3) if the library is missing.
void decodeWebP(const void *bytes, std::size_t size, const std::string &where,
                Image &image);

} // namespace brew::formats
