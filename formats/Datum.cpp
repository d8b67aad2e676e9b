//===- Datum.cpp - Database records as images -----------------------------===//
#include "formats/Datum.h"

#include "formats/Blob.h"
#include "formats/caffe.pb.h"
#include "formats/image/ImageSize.h"
#include "support/Error.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>
#include <type_traits>

namespace brew::formats {
namespace {

/// Converts pixels of three bytes to three planes of `plane` bytes each.
inline __attribute__((always_inline)) void
separatePlanes(const uint8_t *pixels, size_t plane, uint8_t *planes) {
  uint8_t *second = planes + plane, *third = second + plane;
  for (size_t i = 0; i < plane; ++i) {
    const uint8_t a = pixels[3 * i], b = pixels[3 * i + 1],
                  c = pixels[3 * i + 2];
    planes[i] = a;
    second[i] = b;
    third[i] = c;
  }
}

#ifdef __x86_64__
/// The same loop compiled for AVX2, which is 20 times as fast.
__attribute__((target("avx2"))) void
separatePlanesAvx2(const uint8_t *pixels, size_t plane, uint8_t *planes) {
  separatePlanes(pixels, plane, planes);
}
#endif

void separateThreePlanes(const uint8_t *pixels, size_t plane, uint8_t *planes) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2"))
    return separatePlanesAvx2(pixels, plane, planes);
#endif
  separatePlanes(pixels, plane, planes);
}

/// The fields of a serialised Datum. `data` views the serialised bytes.
struct DatumFields {
  std::int32_t channels = 0, height = 0, width = 0, label = 0;
  bool encoded = false;
  std::string_view data;
  bool hasFloats = false; ///< float_data is not read
};

/// Reads the fields of a Datum without copying its data. Returns nullopt if it
/// is not a Datum.
std::optional<DatumFields> readFields(std::string_view bytes) {
  using google::protobuf::internal::WireFormatLite;
  if (bytes.size() > INT_MAX)
    return std::nullopt;
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const std::uint8_t *>(bytes.data()),
      static_cast<int>(bytes.size()));
  DatumFields fields;
  const auto readNumber = [&](auto &field) {
    std::int32_t number = 0;
    if (!WireFormatLite::ReadPrimitive<std::int32_t,
                                       WireFormatLite::TYPE_INT32>(&stream,
                                                                   &number))
      return false;
    field = static_cast<std::remove_reference_t<decltype(field)>>(number);
    return true;
  };
  const auto readData = [&] {
    std::uint32_t size = 0;
    if (!stream.ReadVarint32(&size))
      return false;
    const int at = stream.CurrentPosition();
    if (size > INT_MAX || !stream.Skip(static_cast<int>(size)))
      return false;
    fields.data = bytes.substr(static_cast<std::size_t>(at), size);
    return true;
  };
  constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
  constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  while (const std::uint32_t tag = stream.ReadTag()) {
    const auto is = [&](int number, WireFormatLite::WireType type) {
      return tag == WireFormatLite::MakeTag(number, type);
    };
    bool isRead = false;
    if (is(caffe::Datum::kChannelsFieldNumber, kVarint)) {
      isRead = readNumber(fields.channels);
    } else if (is(caffe::Datum::kHeightFieldNumber, kVarint)) {
      isRead = readNumber(fields.height);
    } else if (is(caffe::Datum::kWidthFieldNumber, kVarint)) {
      isRead = readNumber(fields.width);
    } else if (is(caffe::Datum::kLabelFieldNumber, kVarint)) {
      isRead = readNumber(fields.label);
    } else if (is(caffe::Datum::kEncodedFieldNumber, kVarint)) {
      std::uint64_t value = 0;
      isRead = stream.ReadVarint64(&value);
      fields.encoded = value != 0;
    } else if (is(caffe::Datum::kDataFieldNumber, kBytes)) {
      isRead = readData();
    } else {
      fields.hasFloats |= WireFormatLite::GetTagFieldNumber(tag) ==
                          caffe::Datum::kFloatDataFieldNumber;
      isRead = WireFormatLite::SkipField(&stream, tag);
    }
    if (!isRead)
      return std::nullopt;
  }
  // ReadTag() returns 0 at the end, and for an invalid tag.
  if (!stream.ConsumedEntireMessage())
    return std::nullopt;
  return fields;
}

DatumFields requireFields(std::string_view bytes, const std::string &where) {
  const std::optional<DatumFields> fields = readFields(bytes);
  if (!fields)
    throw badInput(where + ": damaged record: not a Datum");
  if (fields->encoded && fields->data.empty())
    throw badInput(where + ": damaged record: an encoded image without data");
  return *fields;
}

/// Returns the shape of a raw record. Throws Error(1) unless it is positive.
std::array<int, 3> rawShape(const DatumFields &fields,
                            const std::string &where) {
  const std::array<int, 3> shape = {fields.channels, fields.height,
                                    fields.width};
  if (shape[0] <= 0 || shape[1] <= 0 || shape[2] <= 0)
    throw badInput(where + ": damaged record: shape " +
                   dimsText({shape.begin(), shape.end()}));
  return shape;
}

} // namespace

void setImage(const Image &image, ImageRecord &record) {
  record.floats.clear();
  record.viewed = {};
  record.channels = image.channels;
  record.height = image.height;
  record.width = image.width;
  record.bytes.resize(image.pixels.size());
  size_t plane = size_t(image.height) * image.width;
  size_t channels = static_cast<size_t>(image.channels);
  if (channels == 3)
    return separateThreePlanes(image.pixels.data(), plane, record.bytes.data());
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < plane; ++i)
      record.bytes[c * plane + i] = image.pixels[i * channels + c];
}

bool setFrame(const Image &image, int frame, int frames, ImageRecord &record) {
  if (frame == 0) {
    record.floats.clear();
    record.viewed = {};
    record.channels = image.channels;
    record.height = image.height;
    record.width = image.width;
    record.frames = frames;
    record.bytes.resize(image.pixels.size() * static_cast<size_t>(frames));
  }
  if (image.channels != record.channels || image.height != record.height ||
      image.width != record.width)
    return false;
  const size_t plane = size_t(image.height) * image.width;
  const auto channels = static_cast<size_t>(image.channels);
  for (size_t c = 0; c < channels; ++c) {
    uint8_t *out =
        record.bytes.data() + (c * static_cast<size_t>(frames) + frame) * plane;
    for (size_t i = 0; i < plane; ++i)
      out[i] = image.pixels[i * channels + c];
  }
  return true;
}

std::string ImageRecord::shapeText() const {
  return std::to_string(channels) +
         (frames > 1 ? " x " + std::to_string(frames) : "") + " x " +
         std::to_string(height) + " x " + std::to_string(width);
}

std::optional<int> labelOfDatum(std::string_view bytes) {
  const std::optional<DatumFields> fields = readFields(bytes);
  return fields ? std::optional<int>(fields->label) : std::nullopt;
}

std::array<int, 3> shapeOfDatum(std::string_view bytes, ImageColor color,
                                const std::string &where) {
  const DatumFields fields = requireFields(bytes, where);
  return fields.encoded
             ? imageShape(fields.data.data(), fields.data.size(), color, where)
             : rawShape(fields, where);
}

void decodeDatum(std::string_view bytes, ImageColor color,
                 const std::string &where, ImageRecord &record) {
  viewDatum(bytes, color, where, record);
  record.bytes.insert(record.bytes.end(), record.viewed.begin(),
                      record.viewed.end());
  record.viewed = {};
}

void viewDatum(std::string_view bytes, ImageColor color,
               const std::string &where, ImageRecord &record) {
  const DatumFields fields = requireFields(bytes, where);
  record.label = fields.label;
  record.encoded = fields.encoded;
  record.bytes.clear();
  record.floats.clear();
  record.viewed = {};

  if (fields.encoded) {
    Image image;
    decodeImage(fields.data.data(), fields.data.size(), color, where, image);
    setImage(image, record);
    return;
  }

  const auto [channels, height, width] = rawShape(fields, where);
  record.channels = channels;
  record.height = height;
  record.width = width;
  caffe::Datum datum; // parsed only for its floats
  if (fields.data.empty() && fields.hasFloats &&
      !datum.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw badInput(where + ": damaged record: not a Datum");
  // The product of two 31-bit extents cannot overflow 64 bits, but the product
  // of three can.
  const uint64_t plane = uint64_t(height) * uint64_t(width);
  const uint64_t values = fields.data.empty()
                              ? uint64_t(datum.float_data_size())
                              : fields.data.size();
  if (plane > values || plane * uint64_t(channels) != values)
    throw badInput(where + ": damaged record: shape " +
                   dimsText({channels, height, width}) + " but " +
                   std::to_string(values) + " values");
  record.viewed = fields.data;
  if (fields.data.empty())
    record.floats.assign(datum.float_data().begin(), datum.float_data().end());
}

std::string encodeFloatDatum(int channels, int height, int width,
                             const float *values) {
  caffe::Datum datum;
  datum.set_channels(channels);
  datum.set_height(height);
  datum.set_width(width);
  const int64_t count = int64_t(channels) * height * width;
  datum.mutable_float_data()->Add(values, values + count);
  return datum.SerializeAsString();
}

std::string encodeDatum(int channels, int height, int width,
                        std::string_view pixels, int label) {
  caffe::Datum datum;
  datum.set_channels(channels);
  datum.set_height(height);
  datum.set_width(width);
  datum.set_data(pixels.data(), pixels.size());
  datum.set_label(label);
  return datum.SerializeAsString();
}

} // namespace brew::formats
