//===- Datum.h - Database records as images ---------------------*- C++ -*-===//
//
// One record of an image database, decoded whatever way it was stored.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

/// An image, channels x height x width, with its label. Reused from record to
/// record so that its memory is.
struct ImageRecord {
  int channels = 0, height = 0, width = 0;
  int label = 0;
  bool encoded = false;       ///< it was stored as a JPEG or PNG file
  std::vector<uint8_t> bytes; ///< the values, or empty
  std::vector<float> floats;  ///< the values, if the record holds floats

  size_t size() const { return bytes.empty() ? floats.size() : bytes.size(); }
  float value(size_t i) const { return bytes.empty() ? floats[i] : bytes[i]; }
};

/// Decodes one serialised caffe::Datum. `color` applies to encoded images only,
/// as in Caffe. Error(1), with `where` (database and key) in front, for what is
/// no Datum, has no values, or as many as do not fit its shape.
void decodeDatum(std::string_view bytes, ImageColor color,
                 const std::string &where, ImageRecord &record);

/// The label of a serialised caffe::Datum, whose values are passed over;
/// nothing if it is no Datum.
std::optional<int> labelOfDatum(std::string_view bytes);

/// Makes a decoded image the values of a record, plane by plane; its label
/// stays.
void setImage(const Image &image, ImageRecord &record);

/// Serialises a raw image as Caffe's converters do.
std::string encodeDatum(int channels, int height, int width,
                        std::string_view pixels, int label);

/// Serialises channels x height x width floats as extract_features does:
/// without a label.
std::string encodeFloatDatum(int channels, int height, int width,
                             const float *values);

} // namespace brew::formats
