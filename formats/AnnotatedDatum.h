//===- AnnotatedDatum.h - Images with their objects -------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

/// An object of an image; corners are fractions of its width and height.
struct AnnotatedObject {
  int label = 0, instance = 0;
  float left = 0, top = 0, right = 0, bottom = 0;
  bool difficult = false;
};

struct AnnotatedRecord {
  Image image;
  bool encoded = false; ///< it was stored as a JPEG or PNG file
  bool hasLabel = false;
  int label = 0;
  /// Whether the record says of what type its annotations are: if not, it has
  /// a label instead.
  bool hasType = false;
  std::vector<AnnotatedObject> objects; ///< in the order of their groups
};

/// Decodes one serialised caffe::AnnotatedDatum. Errors are those of
/// decodeDatum(), and Error (1) for an image of floats.
void decodeAnnotatedDatum(std::string_view bytes, ImageColor color,
                          const std::string &where, AnnotatedRecord &record);

/// Whether a record is an AnnotatedDatum, if it is no other than that or a
/// Datum: these begin with different fields.
bool isAnnotatedDatum(std::string_view bytes);

/// How many objects a serialised record has, without looking at its image.
/// Error (1), beginning with `where`, if it is no AnnotatedDatum.
size_t countObjects(std::string_view bytes, const std::string &where);

} // namespace brew::formats
