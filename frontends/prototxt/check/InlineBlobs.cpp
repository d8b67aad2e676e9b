//===- InlineBlobs.cpp - Weights inside prototxts -------------------------===//

#include "frontends/prototxt/check/InlineBlobs.h"

#include "formats/caffe.pb.h"
#include "frontends/prototxt/check/LayerSettings.h"

namespace brew::prototxt {

void collectInlineBlobs(const NetGraph &graph, const SourceMap &locations,
                        InlineBlobs &blobs) {
  for (const GraphLayer &entry : graph.layers) {
    const caffe::LayerParameter &layer = *entry.layer;
    if (entry.kind->ignoresBlobs)
      continue;
    for (int i = 0; i < layer.blobs_size(); ++i) {
      auto [blob, isNew] = blobs.try_emplace({layer.name(), i});
      if (!isNew)
        continue;
      caffe::BlobProto copy = layer.blobs(i);
      blob->second = {formats::takeBlob(copy, layerPrefix(layer).text),
                      locations.where(layer, "blobs", i), layerPrefix(layer)};
    }
  }
}

} // namespace brew::prototxt
