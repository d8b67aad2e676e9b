//===- WeightFile.cpp - .caffemodel files ---------------------------------===//
#include "formats/WeightFile.h"

#include "formats/ExpectedFile.h"
#include "formats/ProtoFile.h"
#include "formats/V1Layers.h"
#include "formats/caffe.pb.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/hdf5/Hdf5Snapshots.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/RegularFile.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>

namespace brew::formats {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

template <typename Strings>
std::vector<std::string> toVector(const Strings &list) {
  return {list.begin(), list.end()};
}

/// Moves the blobs of one layer message (of any generation) into `layer`.
template <typename LayerMessage>
void takeBlobs(LayerMessage &message, WeightLayer &layer,
               const std::string &path) {
  layer.blobs.reserve(static_cast<size_t>(message.blobs_size()));
  for (int i = 0; i < message.blobs_size(); ++i)
    layer.blobs.push_back(takeBlob(*message.mutable_blobs(i),
                                   path + ": layer '" + layer.name +
                                       "', blob " + std::to_string(i)));
}

//===--- Writing --------------------------------------------------------===//
//
// The functions encode the message by hand and produce the same bytes as
// protobuf. A protobuf message would need two more copies of every value.

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "packed values are written as they are in memory");

void appendVarint(std::string &out, uint64_t value) {
  uint8_t bytes[10];
  uint8_t *end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  out.append(reinterpret_cast<char *>(bytes), static_cast<size_t>(end - bytes));
}

/// Appends tag and length of a length-delimited field.
void appendHeader(std::string &out, int field, uint64_t length) {
  appendVarint(out, WireFormatLite::MakeTag(
                        field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  appendVarint(out, length);
}

void appendString(std::string &out, int field, const std::string &text) {
  appendHeader(out, field, text.size());
  out += text;
}

/// An encoded blob: chunks in file order. Each chunk consists of encoded bytes,
/// followed by values that are in the blob itself.
struct EncodedBlob {
  struct Chunk {
    std::string prefix; ///< encoded bytes before the values
    const void *values = nullptr;
    size_t bytes = 0;
  };
  std::vector<Chunk> chunks;

  uint64_t size() const {
    uint64_t total = 0;
    for (const Chunk &chunk : chunks)
      total += chunk.prefix.size() + chunk.bytes;
    return total;
  }
  /// Adds a packed field that refers to `values`, without a copy.
  template <typename T>
  void addValues(int field, const std::vector<T> &values) {
    if (values.empty())
      return;
    Chunk chunk;
    chunk.values = values.data();
    chunk.bytes = values.size() * sizeof(T);
    appendHeader(chunk.prefix, field, chunk.bytes);
    chunks.push_back(std::move(chunk));
  }
};

EncodedBlob encodeBlob(const Blob &blob, const Blob *diff) {
  using caffe::BlobProto;
  EncodedBlob encoded;
  std::string dims;
  for (int64_t dim : blob.dims)
    appendVarint(dims, static_cast<uint64_t>(dim));
  std::string packedDims;
  if (!dims.empty())
    appendString(packedDims, caffe::BlobShape::kDimFieldNumber, dims);

  encoded.addValues(BlobProto::kDataFieldNumber, blob.floats);
  if (diff)
    encoded.addValues(BlobProto::kDiffFieldNumber, diff->floats);
  encoded.chunks.emplace_back();
  appendString(encoded.chunks.back().prefix, BlobProto::kShapeFieldNumber,
               packedDims);
  encoded.addValues(BlobProto::kDoubleDataFieldNumber, blob.doubles);
  if (diff)
    encoded.addValues(BlobProto::kDoubleDiffFieldNumber, diff->doubles);
  return encoded;
}

struct EncodedLayer {
  std::string head; ///< all fields before the blobs
  std::vector<EncodedBlob> blobs;
  std::vector<std::string> blobHeaders;
  uint64_t size = 0;
};

EncodedLayer encodeLayer(const WeightLayer &layer, const std::string &path) {
  using caffe::LayerParameter;
  EncodedLayer encoded;
  encoded.head = layer.encoded;
  if (layer.encoded.empty()) {
    appendString(encoded.head, LayerParameter::kNameFieldNumber, layer.name);
    appendString(encoded.head, LayerParameter::kTypeFieldNumber, layer.type);
    for (const std::string &bottom : layer.bottoms)
      appendString(encoded.head, LayerParameter::kBottomFieldNumber, bottom);
    for (const std::string &top : layer.tops)
      appendString(encoded.head, LayerParameter::kTopFieldNumber, top);
  }
  encoded.size = encoded.head.size();
  for (size_t i = 0; i < layer.blobs.size(); ++i) {
    const Blob &blob = layer.blobs[i];
    std::string where = path + ": layer '" + layer.name + "'";
    if (elementCount(blob.dims, where) != static_cast<int64_t>(blob.size()))
      throw Error(ExitStatus::Bug, where + ": shape " + dimsText(blob.dims) +
                                       " does not match " +
                                       std::to_string(blob.size()) + " values");
    EncodedBlob body =
        encodeBlob(blob, layer.diffs.empty() ? nullptr : &layer.diffs.at(i));
    std::string header;
    appendHeader(header, LayerParameter::kBlobsFieldNumber, body.size());
    encoded.size += header.size() + body.size();
    encoded.blobs.push_back(std::move(body));
    encoded.blobHeaders.push_back(std::move(header));
  }
  return encoded;
}

bool hasLayers(const caffe::NetParameter &net) {
  return net.layer_size() != 0 || net.layers_size() != 0;
}

/// Moves the values out of a NetParameter. Throws Error (1) if it has no layers
/// or damaged ones.
Weights takeWeights(caffe::NetParameter &net, const std::string &path) {
  if (!hasLayers(net))
    throw badInput(path + ": damaged or truncated caffemodel: no layers");
  Weights weights;
  weights.netName = net.name();
  weights.layers.reserve(static_cast<size_t>(net.layer_size()) +
                         net.layers_size());
  for (caffe::LayerParameter &message : *net.mutable_layer()) {
    WeightLayer layer{message.name(),
                      message.type(),
                      toVector(message.bottom()),
                      toVector(message.top()),
                      {}};
    takeBlobs(message, layer, path);
    weights.layers.push_back(std::move(layer));
  }
  for (caffe::V1LayerParameter &message : *net.mutable_layers()) {
    WeightLayer layer{message.name(),
                      v1LayerTypeName(message.type()),
                      toVector(message.bottom()),
                      toVector(message.top()),
                      {}};
    if (message.has_layer()) { // a V0 layer, wrapped in a V1 layer
      caffe::V0LayerParameter &inner = *message.mutable_layer();
      layer.name = inner.name();
      layer.type = inner.type();
      takeBlobs(inner, layer, path);
    }
    takeBlobs(message, layer, path);
    weights.layers.push_back(std::move(layer));
  }
  return weights;
}

} // namespace

Weights readWeights(const std::string &path) {
  refuseSpecialFile(path);
  if (isHdf5File(path))
    return readHdf5Weights(path);
  caffe::NetParameter net;
  readProtoFile(path, net, "caffemodel", weightFile());
  if (!hasLayers(net))
    refuseOtherKind(path, weightFile());
  return takeWeights(net, path);
}

Weights parseWeights(const void *data, size_t size, const std::string &source) {
  const google::protobuf::LogSilencer silencer;
  caffe::NetParameter net;
  if (size >= INT_MAX ||
      !net.ParsePartialFromArray(data, static_cast<int>(size)))
    throw badInput(source + ": damaged or truncated caffemodel");
  return takeWeights(net, source);
}

void writeWeights(const std::string &path, const Weights &weights,
                  SnapshotFormat format) {
  if (format == SnapshotFormat::Hdf5)
    return writeHdf5Weights(path, weights);
  std::vector<EncodedLayer> layers;
  layers.reserve(weights.layers.size());
  std::string head = weights.encoded;
  if (head.empty())
    appendString(head, caffe::NetParameter::kNameFieldNumber, weights.netName);
  uint64_t total = head.size();
  for (const WeightLayer &layer : weights.layers) {
    layers.push_back(encodeLayer(layer, path));
    total += layers.back().size + 16; // 16 bytes suffice for tag and length
  }
  if (total >= INT_MAX)
    throw badInput("cannot write '" + path +
                   "': weights of 2 GB or more do not fit a binary caffemodel");

  AtomicFile file(path);
  file.write(head);
  for (const EncodedLayer &layer : layers) {
    std::string header;
    appendHeader(header, caffe::NetParameter::kLayerFieldNumber, layer.size);
    file.write(header);
    file.write(layer.head);
    for (size_t i = 0; i < layer.blobs.size(); ++i) {
      file.write(layer.blobHeaders[i]);
      for (const EncodedBlob::Chunk &chunk : layer.blobs[i].chunks) {
        file.write(chunk.prefix);
        file.write(chunk.values, chunk.bytes);
      }
    }
  }
  file.commit();
}

} // namespace brew::formats
