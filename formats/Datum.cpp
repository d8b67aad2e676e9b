//===- Datum.cpp - Database records as images -----------------------------===//
#include "formats/Datum.h"

#include "formats/caffe.pb.h"
#include "support/Error.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>

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

} // namespace

void setImage(const Image &image, ImageRecord &record) {
  record.floats.clear();
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

std::optional<int> labelOfDatum(std::string_view bytes) {
  using google::protobuf::internal::WireFormatLite;
  if (bytes.size() > INT_MAX)
    return std::nullopt;
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const std::uint8_t *>(bytes.data()),
      static_cast<int>(bytes.size()));
  const std::uint32_t labelTag = WireFormatLite::MakeTag(
      caffe::Datum::kLabelFieldNumber, WireFormatLite::WIRETYPE_VARINT);
  std::int32_t label = 0;
  while (const std::uint32_t tag = stream.ReadTag())
    if (tag == labelTag
            ? !WireFormatLite::ReadPrimitive<std::int32_t,
                                             WireFormatLite::TYPE_INT32>(
                  &stream, &label)
            : !WireFormatLite::SkipField(&stream, tag))
      return std::nullopt;
  // ReadTag() returns 0 at the end, and for an invalid tag.
  if (!stream.ConsumedEntireMessage())
    return std::nullopt;
  return label;
}

void decodeDatum(std::string_view bytes, ImageColor color,
                 const std::string &where, ImageRecord &record) {
  caffe::Datum datum;
  if (bytes.size() > INT_MAX ||
      !datum.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw badInput(where + ": damaged record: not a Datum");
  record.label = datum.label();
  record.encoded = datum.encoded();
  record.bytes.clear();
  record.floats.clear();

  if (datum.encoded()) {
    if (datum.data().empty())
      throw badInput(where + ": damaged record: an encoded image without data");
    Image image;
    decodeImage(datum.data().data(), datum.data().size(), color, where, image);
    setImage(image, record);
    return;
  }

  record.channels = datum.channels();
  record.height = datum.height();
  record.width = datum.width();
  std::string shape = std::to_string(record.channels) + "x" +
                      std::to_string(record.height) + "x" +
                      std::to_string(record.width);
  if (record.channels <= 0 || record.height <= 0 || record.width <= 0)
    throw badInput(where + ": damaged record: shape " + shape);
  // The product of two 31-bit extents cannot overflow 64 bits, but the product
  // of three can.
  uint64_t plane = uint64_t(record.height) * uint64_t(record.width);
  uint64_t values = datum.data().empty() ? uint64_t(datum.float_data_size())
                                         : datum.data().size();
  if (plane > values || plane * uint64_t(record.channels) != values)
    throw badInput(where + ": damaged record: shape " + shape + " but " +
                   std::to_string(values) + " values");
  if (!datum.data().empty())
    record.bytes.assign(datum.data().begin(), datum.data().end());
  else
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
