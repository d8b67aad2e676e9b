//===- ImageFile.h - Image files --------------------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <string>

namespace brew::formats {

/// Returns all bytes of a file. Throws Error(3), prefixed with a non-empty
/// `where`, if the file does not exist or cannot be read.
std::string readFileBytes(const std::string &path,
                          const std::string &where = "");

/// Decodes a JPEG or PNG file. Then resizes the image, as Caffe's
/// ReadImageToCVMat does, unless `height` and `width` are 0. Throws as
/// readFileBytes() and decodeImage() do; `where` names the file that refers to
/// the image.
void readImageFile(const std::string &path, ImageColor color, int height,
                   int width, const std::string &where, Image &image);

/// Decodes and resizes an image in memory, as ImageData and the converters do.
void decodeAndResize(const void *bytes, size_t size, ImageColor color,
                     int height, int width, const std::string &where,
                     Image &image);

} // namespace brew::formats
