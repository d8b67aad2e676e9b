//===- BinaryProto.h - Mean images ------------------------------*- C++ -*-===//
//
// .binaryproto files: one BlobProto, a data layer's mean image.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"

#include <string>

namespace brew::formats {

/// Reads one tensor. Error(3): not found; Error(1): damaged, or empty.
Blob readBinaryProto(const std::string &path);

/// Writes atomically; Caffe's own mean files have `legacyShape` 1xCxHxW.
void writeBinaryProto(const std::string &path, const Blob &blob);

} // namespace brew::formats
