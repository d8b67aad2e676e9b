//===- BinaryProto.h - Files of mean images ---------------------*- C++ -*-===//
//
// A .binaryproto file contains one BlobProto, a data layer's mean image.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"

#include <string>

namespace brew::formats {

/// Reads a file. Error(3): not found; Error(1): damaged or empty.
Blob readBinaryProto(const std::string &path);

/// Writes a file atomically. Caffe's mean files have `legacyShape`, 1xCxHxW.
void writeBinaryProto(const std::string &path, const Blob &blob);

} // namespace brew::formats
