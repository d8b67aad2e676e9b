//===- NetMetadata.cpp - A net's layers as Caffe lists them ---------------===//

#include "frontends/prototxt/check/NetMetadata.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace brew::prototxt {

namespace {

/// Returns whether the top has a loss weight in the prototxt, which Caffe
/// counts as another reader.
bool hasLossWeightInPrototxt(const NetGraph &graph, const BlobVersion &blob) {
  const caffe::LayerParameter &layer = *graph.layers[blob.layer].layer;
  return blob.top < layer.top_size() && blob.top < layer.loss_weight_size() &&
         layer.loss_weight(blob.top) != 0;
}

std::string splitName(const NetGraph &graph, const BlobVersion &blob) {
  return blob.name + "_" + graph.layers[blob.layer].layer->name() + "_" +
         std::to_string(blob.top) + "_split";
}

class LayerLister {
public:
  LayerLister(const NetGraph &graph,
              const std::vector<std::string> &outputGradients)
      : graph(graph),
        outputGradients(outputGradients.begin(), outputGradients.end()) {}

  std::vector<LayerMetadata> run() {
    for (size_t i = 0; i < graph.layers.size(); ++i)
      addLayer(static_cast<int>(i));
    pruneBackwardPass();
    return std::move(layers);
  }

private:
  void addLayer(int index);
  void addSplit(int blob, int tops);
  void determineNeedsBackward(LayerMetadata &layer, bool needsBackward);
  void pruneBackwardPass();

  const NetGraph &graph;
  std::set<std::string> outputGradients;
  std::vector<LayerMetadata> layers;
  std::map<std::string, bool> blobNeedsBackward;
};

/// Determines whether the layer needs a backward pass, and which bottoms may
/// need a gradient.
void LayerLister::determineNeedsBackward(LayerMetadata &layer,
                                         bool needsBackward) {
  const caffe::LayerParameter *source =
      layer.layer < 0 ? nullptr : graph.layers[layer.layer].layer;
  layer.needsBackward = needsBackward;
  for (size_t i = 0; i < layer.bottoms.size(); ++i) {
    bool needed = blobNeedsBackward[layer.bottoms[i]];
    layer.needsBackward |= needed;
    if (source && source->propagate_down_size() > static_cast<int>(i))
      needed = source->propagate_down(static_cast<int>(i));
    layer.bottomNeedsBackward.push_back(needed);
  }
  // An in-place top is its bottom's blob.
  for (const std::string &top : layer.tops)
    if (!top.empty())
      blobNeedsBackward[top] |= layer.needsBackward;
}

void LayerLister::addLayer(int index) {
  const GraphLayer &entry = graph.layers[index];
  const caffe::LayerParameter &source = *entry.layer;
  LayerMetadata layer;
  layer.name = source.name();
  layer.type = source.type();
  layer.layer = index;
  for (size_t i = 0; i < entry.bottoms.size(); ++i) {
    const BlobVersion &blob = graph.blobs[entry.bottoms[i]];
    const BlobSplit split = splitOf(graph, entry.bottoms[i]);
    std::string name = blob.name;
    if (split.tops > 0) {
      int reader = 0;
      while (blob.readers[reader] != std::pair(index, static_cast<int>(i)))
        ++reader;
      name = splitName(graph, blob) + "_" +
             std::to_string(split.firstReader + reader);
    }
    layer.bottoms.push_back(name);
  }
  layer.lossWeights = entry.lossWeights;
  for (size_t i = 0; i < entry.tops.size(); ++i) {
    const BlobVersion &blob = graph.blobs[entry.tops[i]];
    layer.tops.push_back(blob.isAutomatic ? "" : blob.name);
    layer.shapedLike.push_back(layer.tops.back());
    // A loss weight in the prototxt moves to the split.
    if (splitOf(graph, entry.tops[i]).firstReader > 0)
      layer.lossWeights[i] = 0;
  }
  bool needsBackward = false;
  for (int i = 0; i < static_cast<int>(entry.params.size()); ++i) {
    const ParamBlob &blob = entry.paramBlobs[static_cast<size_t>(i)];
    needsBackward |= blob.setsMultipliers ? !blob.isStatistic
                                          : i >= source.param_size() ||
                                                source.param(i).lr_mult() != 0;
    const GraphParam &owner = graph.params[entry.params[i]];
    if (owner.layer != &source || owner.index != i)
      layer.sharingLines.push_back("Sharing parameters '" + owner.sharedName +
                                   "' owned by layer '" + owner.layer->name() +
                                   "', param index " +
                                   std::to_string(owner.index));
  }
  determineNeedsBackward(layer, needsBackward);
  layers.push_back(std::move(layer));
  for (int top : entry.tops)
    if (const BlobSplit split = splitOf(graph, top); split.tops > 0)
      addSplit(top, split.tops);
}

void LayerLister::addSplit(int blobIndex, int tops) {
  const BlobVersion &blob = graph.blobs[blobIndex];
  LayerMetadata layer;
  layer.name = splitName(graph, blob);
  layer.type = "Split";
  layer.blob = blobIndex;
  layer.bottoms = {blob.name};
  for (int i = 0; i < tops; ++i)
    layer.tops.push_back(layer.name + "_" + std::to_string(i));
  layer.shapedLike.assign(layer.tops.size(), blob.name);
  layer.lossWeights.assign(layer.tops.size(), 0);
  if (hasLossWeightInPrototxt(graph, blob))
    layer.lossWeights[0] = graph.layers[blob.layer].lossWeights[blob.top];
  determineNeedsBackward(layer, false);
  layers.push_back(std::move(layer));
}

/// Restricts the backward pass to the layers that it reaches from losses and
/// output gradients. Excludes layers that contribute to none of these, and
/// layers whose tops receive no gradient.
void LayerLister::pruneBackwardPass() {
  std::set<std::string> contributingBlobs, blobsWithoutGradient;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    bool contributes = false, receivesNoGradient = true;
    for (size_t i = 0; i < layer->tops.size(); ++i) {
      const bool hasOutputGradient = outputGradients.count(layer->tops[i]) != 0;
      contributes |=
          hasOutputGradient || layer->lossWeights[i] != 0 ||
          (!layer->tops[i].empty() && contributingBlobs.count(layer->tops[i]));
      receivesNoGradient &=
          !hasOutputGradient && blobsWithoutGradient.count(layer->tops[i]) != 0;
    }
    if (layer->needsBackward && receivesNoGradient) {
      layer->needsBackward = false;
      layer->bottomNeedsBackward.assign(layer->bottoms.size(), false);
    }
    layer->needsBackward &= contributes;
    for (size_t i = 0; i < layer->bottoms.size(); ++i) {
      if (contributes)
        contributingBlobs.insert(layer->bottoms[i]);
      else
        layer->bottomNeedsBackward[i] = false;
      if (!layer->bottomNeedsBackward[i])
        blobsWithoutGradient.insert(layer->bottoms[i]);
    }
  }
}

} // namespace

namespace {

/// Returns Caffe's log line about the first condition of a rule that `state`
/// does not meet.
std::optional<std::string> unmetLine(const caffe::NetState &state,
                                     const caffe::NetStateRule &rule,
                                     const std::string &layer) {
  auto hasStage = [&](const std::string &stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) !=
           state.stage().end();
  };
  const std::string prefix = "The NetState ";
  const std::string suffix = " specified by a rule in layer " + layer;
  if (rule.has_phase() && rule.phase() != state.phase())
    return prefix + "phase (" + std::to_string(state.phase()) +
           ") differed from the phase (" + std::to_string(rule.phase()) + ")" +
           suffix;
  const std::string level = "level (" + std::to_string(state.level()) + ") is ";
  // "above" in both messages, as in Caffe.
  if (rule.has_min_level() && state.level() < rule.min_level())
    return prefix + level + "above the min_level (" +
           std::to_string(rule.min_level()) + ")" + suffix;
  if (rule.has_max_level() && state.level() > rule.max_level())
    return prefix + level + "above the max_level (" +
           std::to_string(rule.max_level()) + ")" + suffix;
  for (const std::string &stage : rule.stage())
    if (!hasStage(stage))
      return prefix + "did not contain stage '" + stage + "'" + suffix;
  for (const std::string &stage : rule.not_stage())
    if (hasStage(stage))
      return prefix + "contained a not_stage '" + stage + "'" + suffix;
  return std::nullopt;
}

} // namespace

std::vector<std::string> listUnmetRules(const FilteredNet &net) {
  std::vector<std::string> lines;
  for (const caffe::LayerParameter &layer : net.source->net().layer()) {
    auto isMet = [&](const caffe::NetStateRule &rule) {
      auto line = unmetLine(net.state, rule, layer.name());
      if (line)
        lines.push_back(*line);
      return !line;
    };
    // As in Caffe, check the include rules until one is met; without include
    // rules, check the exclude rules.
    if (layer.include_size() == 0)
      (void)std::any_of(layer.exclude().begin(), layer.exclude().end(), isMet);
    else
      (void)std::any_of(layer.include().begin(), layer.include().end(), isMet);
  }
  return lines;
}

BlobSplit splitOf(const NetGraph &graph, int index) {
  const BlobVersion &blob = graph.blobs[index];
  const int lossReaders = hasLossWeightInPrototxt(graph, blob);
  const int uses = static_cast<int>(blob.readers.size()) + lossReaders;
  return uses > 1 ? BlobSplit{uses, lossReaders} : BlobSplit{};
}

std::vector<LayerMetadata>
listLayers(const NetGraph &graph,
           const std::vector<std::string> &outputGradients) {
  return LayerLister(graph, outputGradients).run();
}

} // namespace brew::prototxt
