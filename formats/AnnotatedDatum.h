//===- AnnotatedDatum.h - Images with their objects -------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

/// An object in an image. Its edges are fractions of the image's width and
/// height.
struct AnnotatedObject {
  int label = 0, instance = 0;
  float left = 0, top = 0, right = 0, bottom = 0;
  bool difficult = false;
};

/// A decoded AnnotatedDatum.
struct AnnotatedRecord {
  Image image;
  bool encoded = false; ///< the image was stored as a JPEG or PNG file
  bool hasLabel = false;
  int label = 0;
  /// The record has an annotation type. Otherwise it has a label.
  bool hasType = false;
  std::vector<AnnotatedObject> objects; ///< in the order of their groups
};

/// Decodes a serialised caffe::AnnotatedDatum. Throws as decodeDatum() does,
/// and Error (1) for an image of floats.
void decodeAnnotatedDatum(std::string_view bytes, ImageColor color,
                          const std::string &where, AnnotatedRecord &record);

/// Returns whether a record, either an AnnotatedDatum or a Datum, is an
/// AnnotatedDatum. The two begin with different fields.
bool isAnnotatedDatum(std::string_view bytes);

/// Returns the number of objects in a serialised record, without decoding its
/// image. Throws Error (1), prefixed with `where`, if it is not an
/// AnnotatedDatum.
size_t countObjects(std::string_view bytes, const std::string &where);

} // namespace brew::formats
