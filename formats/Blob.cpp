//===- Blob.cpp - Tensors in Caffe's files --------------------------------===//
#include "formats/Blob.h"

#include "formats/caffe.pb.h"
#include "support/Error.h"

#include <google/protobuf/unknown_field_set.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

namespace brew::formats {

std::vector<float> Blob::toFloats() const {
  return isDouble() ? std::vector<float>(doubles.begin(), doubles.end())
                    : floats;
}

std::vector<double> Blob::toDoubles() const {
  return isDouble() ? doubles
                    : std::vector<double>(floats.begin(), floats.end());
}

int64_t elementCount(const std::vector<int64_t> &dims,
                     const std::string &where) {
  constexpr int64_t limit = int64_t(1) << 62;
  int64_t count = 1;
  bool hasZero = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      throw badInput(where + ": negative extent in shape " + dimsText(dims));
    hasZero |= dim == 0;
    if (dim != 0 && count > limit / dim)
      throw badInput(where + ": shape " + dimsText(dims) + " is too large");
    count *= dim == 0 ? 1 : dim;
  }
  return hasZero ? 0 : count;
}

std::string dimsText(const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

float halfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  float magnitude;
  if (exponent == 0x1f)
    magnitude = fraction ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  else
    magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return half >> 15 ? -magnitude : magnitude;
}

namespace {

/// Returns the size of a value in bytes, or 0 for types that weights cannot
/// have.
size_t rawSize(caffe::BlobProto::RawType type) {
  switch (type) {
  case caffe::BlobProto::DOUBLE:
    return 8;
  case caffe::BlobProto::FLOAT:
    return 4;
  case caffe::BlobProto::FLOAT16:
    return 2;
  default:
    return 0;
  }
}

/// Moves `expected` values in NVCaffe's format to a blob.
void takeRawValues(caffe::BlobProto &proto, int64_t expected, Blob &blob,
                   const std::string &where) {
  const std::unique_ptr<std::string> raw(proto.release_raw_data());
  const auto type = proto.raw_data_type();
  const size_t size = rawSize(type);
  if (!proto.has_raw_data_type() || size == 0)
    throw badInput(where + ": raw_data of " +
                   (proto.has_raw_data_type()
                        ? "type " + caffe::BlobProto::RawType_Name(type)
                        : "no type") +
                   " (DOUBLE, FLOAT and FLOAT16 are supported)");
  if (raw->size() % size != 0 ||
      raw->size() / size != static_cast<uint64_t>(expected))
    throw badInput(where + ": damaged: shape " + dimsText(blob.dims) +
                   " needs " + std::to_string(expected) + " values of " +
                   std::to_string(size) + " bytes, found " +
                   std::to_string(raw->size()) + " bytes");
  const auto count = static_cast<size_t>(expected);
  if (type == caffe::BlobProto::DOUBLE) {
    blob.doubles.resize(count);
    std::memcpy(blob.doubles.data(), raw->data(), raw->size());
    return;
  }
  blob.floats.resize(count);
  if (type == caffe::BlobProto::FLOAT) {
    std::memcpy(blob.floats.data(), raw->data(), raw->size());
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, raw->data() + 2 * i, sizeof half);
    blob.floats[i] = halfToFloat(half);
  }
}

/// The fields of C3D 1.0's blobs, whose numbers Caffe uses for other fields:
/// num, channels, length, height, width, data.
constexpr int kC3dWidth = 5;

/// Returns the width of a blob in the format of C3D 1.0, or nullopt for other
/// blobs.
std::optional<int64_t> c3dWidthOf(const caffe::BlobProto &proto) {
  const auto &unknown = proto.GetReflection()->GetUnknownFields(proto);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (unknown.field(i).number() == kC3dWidth &&
        unknown.field(i).type() == google::protobuf::UnknownField::TYPE_VARINT)
      return static_cast<int32_t>(unknown.field(i).varint());
  return std::nullopt;
}

/// Moves the values of a blob in the format of C3D 1.0.
Blob takeC3dBlob(caffe::BlobProto &proto, int64_t width,
                 const std::string &where) {
  Blob blob;
  blob.legacyShape = true;
  blob.dims = {proto.num(), proto.channels(), proto.height(), proto.width(),
               width};
  google::protobuf::RepeatedField<float> values;
  values.Swap(proto.mutable_diff());
  if (elementCount(blob.dims, where) != values.size())
    throw badInput(where + ": damaged: shape " + dimsText(blob.dims) +
                   " needs " + std::to_string(elementCount(blob.dims, where)) +
                   " values, found " + std::to_string(values.size()));
  blob.floats.assign(values.begin(), values.end());
  return blob;
}

} // namespace

Blob takeBlob(caffe::BlobProto &proto, const std::string &where) {
  if (const std::optional<int64_t> width = c3dWidthOf(proto))
    return takeC3dBlob(proto, *width, where);
  Blob blob;
  blob.legacyShape = proto.has_num() || proto.has_channels() ||
                     proto.has_height() || proto.has_width();
  if (blob.legacyShape)
    blob.dims = {proto.num(), proto.channels(), proto.height(), proto.width()};
  else
    blob.dims.assign(proto.shape().dim().begin(), proto.shape().dim().end());
  int64_t expected = elementCount(blob.dims, where);

  int64_t floats = proto.data_size(), doubles = proto.double_data_size();
  const bool hasRawValues = proto.has_raw_data() && !proto.raw_data().empty();
  if ((floats != 0) + (doubles != 0) + hasRawValues > 1)
    throw badInput(where + ": damaged: has values in more than one form");
  if (hasRawValues) {
    takeRawValues(proto, expected, blob, where);
    return blob;
  }
  if (floats + doubles != expected)
    throw badInput(where + ": damaged: shape " + dimsText(blob.dims) +
                   " needs " + std::to_string(expected) + " values, found " +
                   std::to_string(floats + doubles));
  // Swapping with a local object releases the memory; Clear() would keep it.
  if (doubles != 0) {
    google::protobuf::RepeatedField<double> values;
    values.Swap(proto.mutable_double_data());
    blob.doubles.assign(values.begin(), values.end());
  } else {
    google::protobuf::RepeatedField<float> values;
    values.Swap(proto.mutable_data());
    blob.floats.assign(values.begin(), values.end());
  }
  return blob;
}

void fillBlobProto(const Blob &blob, caffe::BlobProto &proto) {
  proto.Clear();
  if (blob.legacyShape && blob.dims.size() == 4) {
    proto.set_num(static_cast<int32_t>(blob.dims[0]));
    proto.set_channels(static_cast<int32_t>(blob.dims[1]));
    proto.set_height(static_cast<int32_t>(blob.dims[2]));
    proto.set_width(static_cast<int32_t>(blob.dims[3]));
  } else {
    auto *dims = proto.mutable_shape()->mutable_dim();
    dims->Add(blob.dims.begin(), blob.dims.end());
  }
  if (blob.isDouble())
    proto.mutable_double_data()->Add(blob.doubles.begin(), blob.doubles.end());
  else
    proto.mutable_data()->Add(blob.floats.begin(), blob.floats.end());
}

} // namespace brew::formats
