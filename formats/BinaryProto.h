//===- BinaryProto.h - Files of mean images ---------------------*- C++ -*-===//
//
// A .binaryproto file contains one BlobProto: the mean image of a data layer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"

#include <string>

namespace brew::formats {

/// Reads a file. Throws Error(3) if it is not found, Error(1) if it is damaged
/// or empty.
Blob readBinaryProto(const std::string &path);

/// Writes a file atomically. Caffe's mean files have `legacyShape`, 1xCxHxW.
void writeBinaryProto(const std::string &path, const Blob &blob);

} // namespace brew::formats
