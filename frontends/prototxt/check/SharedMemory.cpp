//===- SharedMemory.cpp - Blobs that share memory in Caffe ----------------===//

#include "frontends/prototxt/check/SharedMemory.h"

#include "frontends/prototxt/check/LayerSettings.h"

namespace brew::prototxt {

namespace {

bool sharesMemory(const std::string &type) {
  return type == "Flatten" || type == "Reshape" || type == "Split";
}

class SharedMemory {
public:
  explicit SharedMemory(const NetGraph &graph);

  /// Returns the blob that the producer of a blob overwrites in place, or -1.
  int overwritten(int blob) const;
  /// Finds a layer that runs after the producer of `blob`, and reads other
  /// values in the same memory. Returns its number and its bottom, or nullopt.
  std::optional<std::pair<int, int>> laterReader(int blob) const;

private:
  bool isDerived(int blob, int from) const;

  const NetGraph &graph;
  std::vector<int> sources; ///< the blob whose memory a blob has, or -1
  std::vector<int> memory;  ///< the first blob in the memory
};

SharedMemory::SharedMemory(const NetGraph &netGraph) : graph(netGraph) {
  for (int i = 0; i < static_cast<int>(graph.blobs.size()); ++i) {
    const GraphLayer &producer = graph.layers[graph.blobs[i].layer];
    int source = overwritten(i);
    if (source < 0 && sharesMemory(producer.layer->type()) &&
        !producer.bottoms.empty())
      source = producer.bottoms[0];
    sources.push_back(source);
    memory.push_back(source < 0 ? i : memory[source]);
  }
}

int SharedMemory::overwritten(int blob) const {
  const BlobVersion &version = graph.blobs[blob];
  const GraphLayer &producer = graph.layers[version.layer];
  const bool isInPlace = !version.isAutomatic &&
                         version.top < producer.layer->bottom_size() &&
                         producer.layer->bottom(version.top) == version.name;
  return isInPlace ? producer.bottoms[version.top] : -1;
}

/// Whether a blob contains the values of `from`, perhaps changed in place.
bool SharedMemory::isDerived(int blob, int from) const {
  while (blob > from)
    blob = sources[blob];
  return blob == from;
}

std::optional<std::pair<int, int>> SharedMemory::laterReader(int blob) const {
  for (int i = 0; i < static_cast<int>(graph.blobs.size()); ++i) {
    if (memory[i] != memory[blob] || isDerived(i, blob))
      continue;
    for (const auto &reader : graph.blobs[i].readers)
      if (reader.first > graph.blobs[blob].layer &&
          graph.layers[reader.first].layer->type() != "Silence")
        return reader;
  }
  return std::nullopt;
}

} // namespace

void warnOfSharedMemory(const NetGraph &graph, const SourceMap &locations,
                        Diagnostics &diagnostics) {
  const SharedMemory memory(graph);
  for (int i = 0; i < static_cast<int>(graph.blobs.size()); ++i) {
    if (memory.overwritten(i) < 0)
      continue;
    const auto reader = memory.laterReader(i);
    if (!reader)
      continue;
    const BlobVersion &version = graph.blobs[i];
    const caffe::LayerParameter &layer = *graph.layers[version.layer].layer;
    const caffe::LayerParameter &other = *graph.layers[reader->first].layer;
    const std::string &name = other.bottom(reader->second);
    diagnostics
        .warning(locations.where(layer, "top", version.top),
                 layerPrefix(layer) + "in Caffe '" + version.name +
                     "' shares its memory with '" + name +
                     "', so that the layer changes both; here '" + name +
                     "' keeps its values")
        .note(locations.where(other, "bottom", reader->second),
              "layer '" + other.name() + "' reads it afterwards");
  }
}

} // namespace brew::prototxt
