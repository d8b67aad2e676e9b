//===- MemoryLossInputs.cpp - Bottoms of MemoryLoss layers ----------------===//

#include "frontends/prototxt/check/MemoryLossInputs.h"

#include "frontends/prototxt/check/LayerSettings.h"

namespace brew::prototxt {

void warnOfProbabilities(const NetGraph &graph, const SourceMap &locations,
                         Diagnostics &diagnostics) {
  for (const GraphLayer &entry : graph.layers) {
    const caffe::LayerParameter &loss = *entry.layer;
    if (loss.type() != "MemoryLoss")
      continue;
    for (int i = 0; i < loss.bottom_size(); ++i) {
      const int blob = entry.bottoms[static_cast<std::size_t>(i)];
      if (blob < 0)
        continue; // an error was reported
      const BlobVersion &version = graph.blobs[static_cast<std::size_t>(blob)];
      const caffe::LayerParameter &producer =
          *graph.layers[static_cast<std::size_t>(version.layer)].layer;
      if (producer.type() != "Softmax" && producer.type() != "Sigmoid")
        continue;
      std::string text = "bottom '" + loss.bottom(i) +
                         "' contains probabilities, so a policy never "
                         "learns: trainers write the gradients of logits";
      if (producer.bottom_size() && producer.bottom(0) != loss.bottom(i))
        text += "; use '" + producer.bottom(0) + "' instead";
      diagnostics
          .warning(locations.where(loss, "bottom", i), layerPrefix(loss) + text)
          .note(locations.where(producer), "layer '" + producer.name() + "' (" +
                                               producer.type() +
                                               ") computes them");
    }
  }
}

} // namespace brew::prototxt
