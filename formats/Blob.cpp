//===- Blob.cpp - A tensor as Caffe's files hold it -----------------------===//
#include "formats/Blob.h"

#include "formats/Error.h"
#include "formats/caffe.pb.h"

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
  bool zero = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      throw badInput(where + ": negative extent in shape " + dimsText(dims));
    zero |= dim == 0;
    if (dim != 0 && count > limit / dim)
      throw badInput(where + ": shape " + dimsText(dims) + " is too large");
    count *= dim == 0 ? 1 : dim;
  }
  return zero ? 0 : count;
}

std::string dimsText(const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

Blob takeBlob(caffe::BlobProto &proto, const std::string &where) {
  Blob blob;
  blob.legacyShape = proto.has_num() || proto.has_channels() ||
                     proto.has_height() || proto.has_width();
  if (blob.legacyShape)
    blob.dims = {proto.num(), proto.channels(), proto.height(), proto.width()};
  else
    blob.dims.assign(proto.shape().dim().begin(), proto.shape().dim().end());
  int64_t expected = elementCount(blob.dims, where);

  int64_t floats = proto.data_size(), doubles = proto.double_data_size();
  if (floats != 0 && doubles != 0)
    throw badInput(where + ": damaged: has both float and double values");
  if (floats + doubles != expected)
    throw badInput(where + ": damaged: shape " + dimsText(blob.dims) +
                   " needs " + std::to_string(expected) + " values, found " +
                   std::to_string(floats + doubles));
  // Swapping into a local releases the memory; Clear() would keep it.
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
