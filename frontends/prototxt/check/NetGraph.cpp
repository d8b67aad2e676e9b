//===- NetGraph.cpp - The data flow of a net ------------------------------===//

#include "frontends/prototxt/check/NetGraph.h"

#include "frontends/prototxt/check/LayerSettings.h"
#include "frontends/prototxt/check/MemoryLossInputs.h"
#include "frontends/prototxt/check/SharedMemory.h"
#include "frontends/prototxt/check/UnknownTypes.h"
#include "frontends/prototxt/upgrade/MyCaffe.h"
#include "support/NumberText.h"
#include "support/Suggest.h"

#include <algorithm>
#include <map>

namespace brew::prototxt {

namespace {

/// Builds the graph layer by layer, as Caffe's Net does.
class NetGraphBuilder {
public:
  NetGraphBuilder(const FilteredNet &net, Diagnostics &diagnostics,
                  bool forCompilation, const std::set<std::string> &hostTypes,
                  const std::map<std::string, int> &paramCounts,
                  bool withSettings, NetGraph &graph)
      : net(net), locations(net.source->locations()), diagnostics(diagnostics),
        forCompilation(forCompilation), hostTypes(hostTypes),
        paramCounts(paramCounts), withSettings(withSettings),
        isTrained(net.state.phase() == caffe::TRAIN), graph(graph) {}

  void run();

private:
  Diagnostic &error(const caffe::LayerParameter &layer,
                    const std::string &field, int index,
                    const std::string &text) {
    return diagnostics.error(locations.where(layer, field, index),
                             layerPrefix(layer) + text);
  }
  void connectBottoms(GraphLayer &entry);
  void reportMissing(const caffe::LayerParameter &layer, int bottom);
  void addTops(GraphLayer &entry);
  void setLossWeights(GraphLayer &entry);
  void addParams(GraphLayer &entry);
  bool needsBackward(const GraphLayer &entry) const;
  void setMultipliers(const caffe::LayerParameter &layer, int index,
                      const ParamBlob &blob, caffe::ParamSpec &spec);
  void shareParam(GraphParam &owner, const caffe::LayerParameter &layer,
                  int index);
  void checkInPlace();
  void collectOutputs();

  const FilteredNet &net;
  const SourceMap &locations;
  Diagnostics &diagnostics;
  const bool forCompilation;
  const std::set<std::string> &hostTypes;
  const std::map<std::string, int> &paramCounts;
  const bool withSettings;
  /// Whether settings of the training are worth a warning.
  const bool isTrained;
  NetGraph &graph;

  std::map<std::string, int> latestVersion; ///< blob name to its last version
  std::map<std::string, int> namedParams;
  /// Layers with parameters by name, which identifies parameters in weight
  /// files.
  std::map<std::string, const caffe::LayerParameter *> paramLayers;
  int layerIndex = 0;
};

void NetGraphBuilder::run() {
  for (const caffe::LayerParameter *layer : net.layers) {
    const LayerKind *kind = hostTypes.count(layer->type())
                                ? &declaredHostKind()
                                : findLayerKind(layer->type());
    if (!kind)
      reportUnknownType(*layer, locations, diagnostics);
    graph.layers.push_back({layer, kind, {}, {}, {}, {}, {}, false});
    GraphLayer &entry = graph.layers.back();
    connectBottoms(entry);
    addTops(entry);
    if (kind) {
      checkAgainstKind(*layer, *kind, locations, diagnostics);
      setLossWeights(entry);
      entry.paramBlobs = paramsOf(*kind, *layer);
      if (auto count = paramCounts.find(layer->name());
          count != paramCounts.end() && entry.paramBlobs.empty())
        entry.paramBlobs.resize(static_cast<size_t>(count->second));
      addParams(entry);
      entry.needsBackward = needsBackward(entry);
      if (withSettings)
        checkSettings(*layer, *kind, locations, diagnostics, forCompilation);
    }
    ++layerIndex;
  }
  checkInPlace();
  warnOfProbabilities(graph, locations, diagnostics);
  warnOfSharedMemory(graph, locations, diagnostics);
  collectOutputs();
}

void NetGraphBuilder::connectBottoms(GraphLayer &entry) {
  const caffe::LayerParameter &layer = *entry.layer;
  for (int i = 0; i < layer.bottom_size(); ++i) {
    auto found = latestVersion.find(layer.bottom(i));
    if (found == latestVersion.end()) {
      reportMissing(layer, i);
      entry.bottoms.push_back(-1);
      continue;
    }
    graph.blobs[found->second].readers.emplace_back(layerIndex, i);
    entry.bottoms.push_back(found->second);
  }
}

void NetGraphBuilder::reportMissing(const caffe::LayerParameter &layer,
                                    int bottom) {
  const std::string &name = layer.bottom(bottom);
  const RemovedLayer *removed = net.removedProducer(name);
  const caffe::LayerParameter *laterProducer = nullptr;
  for (size_t i = layerIndex; i < net.layers.size() && !laterProducer; ++i)
    for (const std::string &top : net.layers[i]->top())
      if (top == name)
        laterProducer = net.layers[i];
  // Suggest a similar name only if no layer produces the blob.
  std::string suggestion;
  if (!removed && !laterProducer) {
    std::vector<std::string> names;
    for (auto it = graph.blobs.rbegin(); it != graph.blobs.rend(); ++it)
      if (!it->isAutomatic)
        names.push_back(it->name);
    suggestion = didYouMean(name, names);
  }
  Diagnostic &diagnostic =
      error(layer, "bottom", bottom,
            "bottom blob '" + name +
                "' is not produced by any layer before it" + suggestion);
  if (removed)
    diagnostic.note(removed->rule, removed->reason);
  if (laterProducer) {
    int top = 0;
    while (laterProducer->top(top) != name)
      ++top;
    diagnostic.note(locations.where(*laterProducer, "top", top),
                    laterProducer == &layer
                        ? "the layer itself produces it"
                        : "layer '" + laterProducer->name() +
                              "' produces it, but comes later");
  }
}

void NetGraphBuilder::addTops(GraphLayer &entry) {
  const caffe::LayerParameter &layer = *entry.layer;
  for (int i = 0; i < layer.top_size(); ++i) {
    const std::string &name = layer.top(i);
    auto previous = latestVersion.find(name);
    const bool isInPlace = i < layer.bottom_size() && layer.bottom(i) == name;
    if (isInPlace && entry.kind && !entry.kind->worksInPlace)
      diagnostics.warning(
          locations.where(layer, "top", i),
          layerPrefix(layer) +
              "is in-place, which Caffe cannot compute for this "
              "type; it is compiled as if the top had a name "
              "of its own");
    if (previous != latestVersion.end() && !isInPlace) {
      const BlobVersion &previousVersion = graph.blobs[previous->second];
      const caffe::LayerParameter &producer =
          *graph.layers[previousVersion.layer].layer;
      const bool isBottom =
          std::find(layer.bottom().begin(), layer.bottom().end(), name) !=
          layer.bottom().end();
      error(layer, "top", i,
            "top blob '" + name + "' is already produced by layer '" +
                producer.name() + "'" +
                (isBottom ? "; an in-place top must stand at the same position "
                            "as its bottom"
                          : ""))
          .note(locations.where(producer, "top", previousVersion.top),
                "'" + name + "' is produced here");
    }
    latestVersion[name] = static_cast<int>(graph.blobs.size());
    entry.tops.push_back(latestVersion[name]);
    graph.blobs.push_back({name, layerIndex, i, {}, false});
  }
  if (entry.kind && entry.kind->isLoss && layer.top_size() == 0) {
    entry.tops.push_back(static_cast<int>(graph.blobs.size()));
    graph.blobs.push_back(
        {"(automatic) " + layer.name(), layerIndex, 0, {}, true});
  }
}

void NetGraphBuilder::setLossWeights(GraphLayer &entry) {
  const caffe::LayerParameter &layer = *entry.layer;
  entry.lossWeights.assign(entry.tops.size(), 0);
  const int weightCount = layer.loss_weight_size();
  if (weightCount == 0) {
    if (entry.kind->isLoss)
      entry.lossWeights[0] = 1;
    return;
  }
  if (weightCount != static_cast<int>(entry.tops.size())) {
    error(layer, "loss_weight", 0,
          "loss_weight is given " + countWithNoun(weightCount, "time") +
              " for " +
              countWithNoun(static_cast<int>(entry.tops.size()), "top") +
              "; it takes one for each, or none");
    return;
  }
  std::copy(layer.loss_weight().begin(), layer.loss_weight().end(),
            entry.lossWeights.begin());
}

void NetGraphBuilder::addParams(GraphLayer &entry) {
  const caffe::LayerParameter &layer = *entry.layer;
  const std::vector<ParamBlob> &blobs = entry.paramBlobs;
  const int count = static_cast<int>(blobs.size());
  if (hasParamForMissingBias(layer, count) && isMyCaffeNet(net.source->net())) {
    if (isTrained)
      diagnostics.warning(locations.where(layer, "param", count),
                          layerPrefix(layer) +
                              "this param has no effect: with bias_term: false "
                              "there is no bias (MyCaffe passes over it; Caffe "
                              "fails)");
  } else if (layer.param_size() > count)
    error(layer, "param", count,
          "param is given " + countWithNoun(layer.param_size(), "time") +
              ", but the layer has " + countWithNoun(count, "parameter"));
  if (count == 0)
    return;
  auto [previous, isNew] = paramLayers.try_emplace(layer.name(), &layer);
  if (!isNew)
    diagnostics
        .error(locations.where(layer),
               layerPrefix(layer) +
                   "another layer with parameters has the same name; weight "
                   "files could not tell them apart")
        .note(locations.where(*previous->second), "it is here");
  for (int i = 0; i < count; ++i) {
    const bool hasSpec = i < layer.param_size();
    caffe::ParamSpec spec = hasSpec ? layer.param(i) : caffe::ParamSpec();
    if (blobs[i].setsMultipliers)
      setMultipliers(layer, i, blobs[i], spec);
    if (!spec.name().empty()) {
      auto [owner, isFirst] = namedParams.try_emplace(
          spec.name(), static_cast<int>(graph.params.size()));
      if (!isFirst) {
        entry.params.push_back(owner->second);
        shareParam(graph.params[owner->second], layer, i);
        continue;
      }
    }
    entry.params.push_back(static_cast<int>(graph.params.size()));
    if (blobs[i].isStatistic && spec.has_lr_mult() && spec.lr_mult() != 0)
      error(layer, "param", i,
            "lr_mult must be 0 here: the layer computes this blob itself");
    graph.params.push_back({&layer, i, blobs[i].filler,
                            blobs[i].isStatistic ? 0 : spec.lr_mult(),
                            spec.decay_mult(), spec.name()});
  }
}

/// Returns whether the layer or one before it has learnable parameters. As in
/// Caffe, propagate_down has no effect on this.
bool NetGraphBuilder::needsBackward(const GraphLayer &entry) const {
  const caffe::LayerParameter &layer = *entry.layer;
  const std::vector<ParamBlob> &params = entry.paramBlobs;
  for (int i = 0; i < static_cast<int>(params.size()); ++i)
    if (!params[i].isStatistic &&
        (params[i].setsMultipliers || i >= layer.param_size() ||
         layer.param(i).lr_mult() != 0))
      return true;
  return std::any_of(entry.bottoms.begin(), entry.bottoms.end(), [&](int blob) {
    return blob >= 0 && graph.layers[graph.blobs[blob].layer].needsBackward;
  });
}

/// Sets the multipliers of a parameter whose layer overrides the prototxt.
void NetGraphBuilder::setMultipliers(const caffe::LayerParameter &layer,
                                     int index, const ParamBlob &blob,
                                     caffe::ParamSpec &spec) {
  const float value = blob.isStatistic ? 0 : 1;
  for (const char *field : {"lr_mult", "decay_mult"}) {
    const auto *descriptor = spec.GetDescriptor()->FindFieldByName(field);
    const auto *reflection = spec.GetReflection();
    // The decay of a statistic does not matter, because it is not learned.
    const bool isRelevant =
        !blob.isStatistic || std::string(field) == "lr_mult";
    if (isTrained && isRelevant && reflection->HasField(spec, descriptor) &&
        reflection->GetFloat(spec, descriptor) != value)
      diagnostics.warning(locations.where(layer.param(index), field),
                          layerPrefix(layer) + field +
                              " has no effect: the layer sets it to " +
                              (blob.isStatistic ? "0" : "1"));
    reflection->SetFloat(&spec, descriptor, value);
  }
}

/// Adds a layer that shares a parameter. Each multiplier is the value of the
/// first layer that specifies it; other values in later layers are errors.
void NetGraphBuilder::shareParam(GraphParam &owner,
                                 const caffe::LayerParameter &layer,
                                 int index) {
  const caffe::ParamSpec &spec = layer.param(index);
  owner.permissive |= spec.share_mode() == caffe::ParamSpec::PERMISSIVE;
  auto mergeMultiplier = [&](bool isSet, float value, const char *field,
                             float &ownerValue,
                             bool (caffe::ParamSpec::*hasField)() const) {
    if (!isSet)
      return;
    // Compare with the first earlier user that specifies the multiplier.
    std::vector<std::pair<const caffe::LayerParameter *, int>> users = {
        {owner.layer, owner.index}};
    users.insert(users.end(), owner.sharers.begin(), owner.sharers.end());
    for (auto [user, paramIndex] : users) {
      if (!(user->param(paramIndex).*hasField)())
        continue;
      if (value != ownerValue)
        diagnostics
            .error(locations.where(spec, field),
                   layerPrefix(layer) + field + " of the shared parameter '" +
                       spec.name() + "' differs from that in layer '" +
                       user->name() + "'")
            .note(locations.where(user->param(paramIndex), field),
                  "it is given here");
      return;
    }
    ownerValue = value;
  };
  mergeMultiplier(spec.has_lr_mult(), spec.lr_mult(), "lr_mult", owner.lrMult,
                  &caffe::ParamSpec::has_lr_mult);
  mergeMultiplier(spec.has_decay_mult(), spec.decay_mult(), "decay_mult",
                  owner.decayMult, &caffe::ParamSpec::has_decay_mult);
  owner.sharers.emplace_back(&layer, index);
}

/// Checks in-place layers. Caffe splits a blob with several readers before any
/// of them runs, and a split copy cannot be overwritten in place.
void NetGraphBuilder::checkInPlace() {
  for (const BlobVersion &blob : graph.blobs) {
    if (blob.readers.empty())
      continue;
    for (auto [reader, bottom] : blob.readers) {
      const caffe::LayerParameter &layer = *graph.layers[reader].layer;
      if (bottom >= layer.top_size() || layer.top(bottom) != blob.name)
        continue; // not in-place
      for (auto [other, otherBottom] : blob.readers) {
        if (other == reader && otherBottom == bottom)
          continue;
        const caffe::LayerParameter &otherLayer = *graph.layers[other].layer;
        error(layer, "top", bottom,
              "cannot overwrite '" + blob.name +
                  "' in place, as another bottom reads it; give the top a "
                  "name of its own")
            .note(locations.where(otherLayer, "bottom", otherBottom),
                  "layer '" + otherLayer.name() + "' reads it");
        break;
      }
    }
  }
}

void NetGraphBuilder::collectOutputs() {
  std::vector<NetOutput> unreported;
  for (int i = 0; i < static_cast<int>(graph.blobs.size()); ++i) {
    const BlobVersion &blob = graph.blobs[i];
    const GraphLayer &producer = graph.layers[blob.layer];
    const auto &weights = producer.lossWeights;
    const size_t top = blob.top;
    const float weight = top < weights.size() ? weights[top] : 0;
    const bool hasWeightInPrototxt = producer.layer->loss_weight_size() > 0;
    if (blob.isAutomatic) {
      if (weight != 0)
        unreported.push_back({i, blob.name, weight, true});
    } else if (blob.readers.empty()) {
      graph.outputs.push_back({i, blob.name, weight, false});
    } else if (weight != 0 && hasWeightInPrototxt) {
      // For Caffe, a loss weight in the prototxt is another reader, so the blob
      // is split, and the copy with the weight is an output.
      graph.outputs.push_back({i,
                               blob.name + "_" + producer.layer->name() + "_" +
                                   std::to_string(blob.top) + "_split_0",
                               weight, false});
    } else if (weight != 0) {
      unreported.push_back({i, blob.name, weight, true});
    }
  }
  // Caffe stores unconsumed blobs in a sorted set.
  std::sort(
      graph.outputs.begin(), graph.outputs.end(),
      [](const NetOutput &a, const NetOutput &b) { return a.name < b.name; });
  graph.outputs.insert(graph.outputs.end(), unreported.begin(),
                       unreported.end());
}

} // namespace

NetGraph NetGraph::build(const FilteredNet &net, Diagnostics &diagnostics,
                         bool forCompilation,
                         const std::set<std::string> &hostTypes,
                         const std::map<std::string, int> &paramCounts,
                         bool withSettings) {
  NetGraph graph;
  graph.forceBackward = net.source->net().force_backward();
  NetGraphBuilder(net, diagnostics, forCompilation, hostTypes, paramCounts,
                  withSettings, graph)
      .run();
  return graph;
}

bool NetGraph::mayHaveGradient(int layer, int index) const {
  const GraphLayer &entry = layers[layer];
  const ParamBlob &blob = entry.paramBlobs[index];
  if (blob.isStatistic)
    return false;
  return forceBackward || blob.setsMultipliers ||
         index >= entry.layer->param_size() ||
         entry.layer->param(index).lr_mult() != 0 ||
         (entry.kind->differentiatesFrozen && entry.needsBackward);
}

bool NetGraph::hasLoss() const {
  return std::any_of(
      outputs.begin(), outputs.end(),
      [](const NetOutput &output) { return output.lossWeight != 0; });
}

bool hasLoss(const FilteredNet &net) {
  for (const caffe::LayerParameter *layer : net.layers) {
    const LayerKind *kind = findLayerKind(layer->type());
    if (layer->loss_weight_size() == 0 && kind && kind->isLoss)
      return true;
    for (float weight : layer->loss_weight())
      if (weight != 0)
        return true;
  }
  return false;
}

} // namespace brew::prototxt
