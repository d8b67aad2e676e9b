//===- Weights.cpp - C API: weight files ----------------------------------===//

#include "runtime/api/Messages.h"
#include "runtime/api/SnapshotBlobs.h"

#include "caffe/weights/WeightBinding.h"
#include "formats/WeightFile.h"
#include "formats/caffe.pb.h"

using namespace brew;
using namespace brew::api;

struct brew_weights {
  Message message;
  formats::Weights weights; ///< layers without blobs if of a net
  bool isOfNet = false;
  std::vector<std::vector<SnapshotBlob>> blobs; ///< of the layers of a net
  std::vector<bool> anyShape; ///< of the layers of a net: see caffe::LayerBlob

  /// Throws Error (2) for the weights of a file.
  void requireNet() const {
    if (!isOfNet)
      throw usage("the weights of a file cannot be changed or written");
  }
  const formats::WeightLayer &layer(size_t index) const {
    if (index >= weights.layers.size())
      throw usage("there is no layer " + std::to_string(index));
    return weights.layers[index];
  }
};

namespace {

template <typename Body> brew_status with(brew_weights *weights, Body &&body) {
  if (!weights)
    return BREW_USAGE;
  return guarded(weights->message, std::forward<Body>(body));
}

void takeFloats(brew_weights &handle) {
  for (formats::WeightLayer &layer : handle.weights.layers)
    for (formats::Blob &blob : layer.blobs)
      convertToFloats(blob);
}

/// Returns the layers of a net as targets; a blob's number counts through all
/// layers.
std::vector<caffe::LayerBlobs> targetsOf(const brew_weights &net) {
  std::vector<caffe::LayerBlobs> result;
  std::uint32_t number = 0;
  for (size_t i = 0; i < net.blobs.size(); ++i) {
    const formats::WeightLayer &layer = net.weights.layers[i];
    caffe::LayerBlobs &target =
        result.emplace_back(caffe::LayerBlobs{layer.name, layer.type, {}});
    for (const SnapshotBlob &blob : net.blobs[i])
      target.blobs.push_back(
          {nullptr, blob.dims, blob.isShared, number++, net.anyShape[i]});
  }
  return result;
}

} // namespace

formats::Weights api::copiesOf(const brew_weights *net) {
  if (!net)
    throw usage("the weights are NULL");
  net->requireNet();
  formats::Weights result = net->weights;
  for (size_t i = 0; i < result.layers.size(); ++i) {
    formats::WeightLayer &layer = result.layers[i];
    const std::vector<SnapshotBlob> &blobs = net->blobs[i];
    const bool haveDiffs =
        std::all_of(blobs.begin(), blobs.end(),
                    [](const SnapshotBlob &blob) { return blob.diffs; });
    for (const SnapshotBlob &blob : blobs) {
      if (blob.isShared)
        layer.shared.insert(layer.blobs.size());
      layer.blobs.push_back(blob.copyOf(blob.values));
      if (haveDiffs)
        layer.diffs.push_back(blob.copyOf(blob.diffs));
    }
  }
  return result;
}

brew_status brew_weights_read(const char *path, brew_weights **weights) {
  return api::open(weights, [&](brew_weights &handle) {
    handle.weights = formats::readWeights(text(path, "the path"));
    takeFloats(handle);
  });
}

brew_status brew_weights_parse(const void *data, size_t size,
                               const char *source, brew_weights **weights) {
  return api::open(weights, [&](brew_weights &handle) {
    if (!data)
      throw usage("the data are NULL");
    handle.weights =
        formats::parseWeights(data, size, text(source, "the source"));
    takeFloats(handle);
  });
}

brew_status brew_weights_create(const void *net, size_t size,
                                brew_weights **weights) {
  return api::open(weights, [&](brew_weights &handle) {
    const auto message = parse<caffe::NetParameter>(net, size, "the net");
    if (message.layer_size() || message.layers_size())
      throw usage("the net has layers: add them one by one");
    handle.weights.netName = message.name();
    handle.weights.encoded.assign(static_cast<const char *>(net), size);
    handle.isOfNet = true;
  });
}

const char *brew_weights_message(const brew_weights *weights) {
  return weights ? weights->message.text() : Message::outOfMemory();
}

void brew_weights_destroy(brew_weights *weights) { delete weights; }

size_t brew_weights_layers(const brew_weights *weights) {
  return weights ? weights->weights.layers.size() : 0;
}

brew_status brew_weights_layer(brew_weights *weights, size_t index,
                               brew_weight_layer *layer) {
  return with(weights, [&] {
    const formats::WeightLayer &from = weights->layer(index);
    brew_weight_layer result{};
    result.name = from.name.c_str();
    result.type = from.type.c_str();
    result.blobs =
        weights->isOfNet ? weights->blobs[index].size() : from.blobs.size();
    copyToCaller(layer, result);
  });
}

brew_status brew_weights_blob(brew_weights *weights, size_t layer, size_t index,
                              brew_snapshot_blob *blob) {
  return with(weights, [&] {
    weights->layer(layer);
    formats::WeightLayer &from = weights->weights.layers[layer];
    const size_t count =
        weights->isOfNet ? weights->blobs[layer].size() : from.blobs.size();
    if (index >= count)
      throw usage("layer '" + from.name + "' has no blob " +
                  std::to_string(index));
    if (weights->isOfNet)
      return describe(weights->blobs[layer][index], blob);
    formats::Blob &own = from.blobs[index];
    const bool isShared = from.shared.count(index) != 0;
    describe(
        {own.dims, isShared ? nullptr : own.floats.data(), nullptr, isShared},
        blob);
  });
}

brew_status brew_weights_add_layer(brew_weights *weights, const void *layer,
                                   size_t size) {
  return with(weights, [&] {
    weights->requireNet();
    const auto message = parse<caffe::LayerParameter>(layer, size, "the layer");
    if (message.blobs_size())
      throw usage("the layer '" + message.name() +
                  "' contains blobs: add them one by one");
    formats::WeightLayer added{message.name(), message.type(), {}, {}, {}};
    added.encoded.assign(static_cast<const char *>(layer), size);
    weights->blobs.emplace_back();
    weights->anyShape.push_back(caffe::takesAnyShape(message));
    weights->weights.layers.push_back(std::move(added));
  });
}

brew_status brew_weights_add_blob(brew_weights *weights,
                                  const brew_snapshot_blob *blob) {
  return with(weights, [&] {
    weights->requireNet();
    if (weights->blobs.empty())
      throw usage("there is no layer for the blob");
    weights->blobs.back().push_back(blobOfCaller(blob));
  });
}

brew_status brew_weights_copy(const brew_weights *from, brew_weights *to,
                              const char *source) {
  return with(to, [&] {
    if (!from || from->isOfNet)
      throw usage("the weights to copy are not those of a file");
    to->requireNet();
    const std::vector<caffe::LayerBlobs> targets = targetsOf(*to);
    const caffe::WeightBinding binding =
        caffe::matchWeights(targets, from->weights, text(source, "the source"));
    std::vector<SnapshotBlob *> blobs;
    for (std::vector<SnapshotBlob> &layer : to->blobs)
      for (SnapshotBlob &blob : layer)
        blobs.push_back(&blob);
    for (const auto &[number, values] : binding.values) {
      copyValues(*values, blobs[number]->values);
      blobs[number]->isLoaded = true;
    }
  });
}

brew_status brew_weights_write(brew_weights *weights, const char *path,
                               brew_snapshot_format format) {
  return with(weights, [&] {
    formats::writeWeights(text(path, "the path"), copiesOf(weights),
                          formatOf(format));
  });
}
