//===- ImageFile.h - Images in files of their own ---------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <string>

namespace brew::formats {

/// All bytes of a file. Error(3), with `where` in front if it is not empty: it
/// is not there, or cannot be read.
std::string readFileBytes(const std::string &path,
                          const std::string &where = "");

/// Decodes a JPEG or PNG file, then resizes it unless `height` and `width` are
/// 0, as Caffe's ReadImageToCVMat does. Errors are those of readFileBytes() and
/// decodeImage(); `where` says who names the file.
void readImageFile(const std::string &path, ImageColor color, int height,
                   int width, const std::string &where, Image &image);

/// What ImageData and the converters do with an image's bytes.
void decodeResized(const void *bytes, size_t size, ImageColor color, int height,
                   int width, const std::string &where, Image &image);

} // namespace brew::formats
