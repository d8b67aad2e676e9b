//===- Datum.h - Database records as images ---------------------*- C++ -*-===//
//
// Decoding and encoding of the records of an image database.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

/// An image, channels x height x width, or the frames of a clip, channels x
/// frames x height x width, with its label. Callers reuse one object for many
/// records, and thus its memory.
struct ImageRecord {
  int channels = 0, height = 0, width = 0;
  int frames = 1;
  int label = 0;
  bool encoded = false;       ///< the image was stored as a JPEG or PNG file
  std::vector<uint8_t> bytes; ///< the values, if the record has bytes
  std::vector<float> floats;  ///< the values, if the record has floats
  /// The values instead of `bytes`, in memory of the caller of viewDatum().
  std::string_view viewed;
  std::vector<float> labels; ///< instead of `label`, if there are several

  int planes() const { return channels * frames; }
  /// Returns the shape for messages, such as "3 x 16 x 128 x 171".
  std::string shapeText() const;
  bool hasBytes() const { return !bytes.empty() || !viewed.empty(); }
  /// Returns the values of a record that has bytes.
  const uint8_t *pixels() const {
    return viewed.empty() ? bytes.data()
                          : reinterpret_cast<const uint8_t *>(viewed.data());
  }
  size_t size() const {
    return !viewed.empty()  ? viewed.size()
           : !bytes.empty() ? bytes.size()
                            : floats.size();
  }
  float value(size_t i) const { return hasBytes() ? pixels()[i] : floats[i]; }
};

/// Decodes a serialised caffe::Datum. `color` applies to encoded images only,
/// as in Caffe. Throws Error(1), prefixed with `where` (database and key), if
/// the bytes are not a Datum, or if it has no values or a number of values that
/// does not match the shape.
void decodeDatum(std::string_view bytes, ImageColor color,
                 const std::string &where, ImageRecord &record);

/// Likewise, but the record of raw bytes views `bytes`, which must outlive its
/// use, instead of copying the values.
void viewDatum(std::string_view bytes, ImageColor color,
               const std::string &where, ImageRecord &record);

/// Returns channels, height and width of a serialised caffe::Datum without
/// decoding its values; `color` is as in decodeDatum(). Throws as decodeDatum()
/// does, but damaged values may remain unnoticed.
std::array<int, 3> shapeOfDatum(std::string_view bytes, ImageColor color,
                                const std::string &where);

/// Returns the label of a serialised caffe::Datum without decoding its values,
/// or nullopt if it is not a Datum.
std::optional<int> labelOfDatum(std::string_view bytes);

/// Copies a decoded image to a record, plane by plane. The label is unchanged.
void setImage(const Image &image, ImageRecord &record);

/// Copies a decoded image to a record as frame `frame` of `frames`. The first
/// frame determines the shape; returns false if another one has another shape.
bool setFrame(const Image &image, int frame, int frames, ImageRecord &record);

/// Serialises a raw image as Caffe's converters do.
std::string encodeDatum(int channels, int height, int width,
                        std::string_view pixels, int label);

/// Serialises channels x height x width floats without a label, as
/// extract_features does.
std::string encodeFloatDatum(int channels, int height, int width,
                             const float *values);

} // namespace brew::formats
