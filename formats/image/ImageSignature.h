//===- ImageSignature.h - Names of image formats ----------------*- C++ -*-===//
#pragma once

#include <cstddef>

namespace brew::formats {

/// Returns the name of the image format that a file's first bytes show, such as
/// "JPEG" or "TIFF", or null if they are not an image's. A few hundred bytes
/// suffice.
const char *imageFormatName(const void *head, std::size_t size);

} // namespace brew::formats
