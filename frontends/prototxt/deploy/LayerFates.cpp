//===- LayerFates.cpp - Roles of layers in deploy nets --------------------===//
#include "frontends/prototxt/deploy/LayerFates.h"

#include "caffe/DataLayerKinds.h"
#include "frontends/prototxt/check/LayerKinds.h"

#include <algorithm>
#include <map>

namespace brew::prototxt {
namespace {

bool hasLossWeight(const caffe::LayerParameter &layer) {
  return std::any_of(layer.loss_weight().begin(), layer.loss_weight().end(),
                     [](float weight) { return weight != 0; });
}

/// Returns whether a layer compares its first bottom with the others.
bool isLossOrMetric(const std::string &type) {
  const LayerKind *kind = findLayerKind(type);
  return (kind && kind->isLoss) || type == "Accuracy" ||
         type == "DetectionEvaluate" || type == "LabelsequenceAccuracy" ||
         type == "SegAccuracy";
}

/// Returns whether a layer only rearranges the values of its bottoms.
bool rearranges(const std::string &type) {
  return type == "Flatten" || type == "Slice" || type == "Reshape" ||
         type == "Split" || type == "Concat" || type == "Permute" ||
         type == "Transpose";
}

} // namespace

LayerFates::LayerFates(const Layers &layers) : layers(layers) {
  for (size_t i = 0; i < layers.size(); ++i)
    fates.push_back(fateOf(i));
  findLostBlobs();
  findLabels();
}

bool LayerFates::isReadAfter(size_t index, const std::string &blob) const {
  return std::any_of(layers.begin() + static_cast<ptrdiff_t>(index) + 1,
                     layers.end(), [&](const caffe::LayerParameter *layer) {
                       return std::find(layer->bottom().begin(),
                                        layer->bottom().end(),
                                        blob) != layer->bottom().end();
                     });
}

/// Returns whether a layer computes a loss by its loss_weight alone. Its tops
/// may also be the bottoms of layers that compute something else.
bool LayerFates::isLossOfOtherType(size_t index) const {
  const auto &tops = layers[index]->top();
  return hasLossWeight(*layers[index]) &&
         std::none_of(layers.begin() + static_cast<ptrdiff_t>(index) + 1,
                      layers.end(), [&](const caffe::LayerParameter *later) {
                        return later->top_size() > 0 &&
                               std::any_of(tops.begin(), tops.end(),
                                           [&](const std::string &top) {
                                             return std::count(
                                                        later->bottom().begin(),
                                                        later->bottom().end(),
                                                        top) > 0;
                                           });
                      });
}

Fate LayerFates::fateOf(size_t index) const {
  const caffe::LayerParameter &layer = *layers[index];
  const caffe::DataLayerKind *data = caffe::findDataLayerKind(layer.type());
  if (data && data->source != caffe::DataLayerSource::Input &&
      data->source != caffe::DataLayerSource::Fillers)
    return Fate::Input;
  const std::string &type = layer.type();
  if (type == "SoftmaxWithLoss" || type == "InfogainLoss" ||
      type == "SigmoidCrossEntropyLoss")
    return Fate::Converted;
  if (isLossOrMetric(type) || isLossOfOtherType(index))
    return Fate::Removed;
  return layer.top_size() == 0 ? Fate::Unused : Fate::Kept;
}

/// Removes layers that read the values of losses and metrics.
void LayerFates::findLostBlobs() {
  for (size_t i = 0; i < layers.size(); ++i) {
    const caffe::LayerParameter &layer = *layers[i];
    auto isLost = [&](const std::string &blob) { return lost.count(blob) > 0; };
    const bool readsLost =
        fates[i] == Fate::Converted
            ? layer.bottom_size() > 0 && isLost(layer.bottom(0))
            : std::any_of(layer.bottom().begin(), layer.bottom().end(), isLost);
    if (readsLost && fates[i] != Fate::Unused)
      fates[i] = Fate::Removed;
    for (int top = 0; top < layer.top_size(); ++top)
      // The second top of a converted loss is its Softmax.
      if (fates[i] == Fate::Removed ||
          (fates[i] == Fate::Converted && top != 1))
        lost.insert(layer.top(top));
  }
}

/// Returns the tops of data layers that losses and metrics compare with
/// predictions, perhaps rearranged, and that no other layer reads.
std::set<std::string> LayerFates::findComparedTops() const {
  std::map<std::string, std::set<std::string>> sources; // of rearranged blobs
  std::set<std::string> compared, used;
  for (size_t i = 0; i < layers.size(); ++i) {
    const caffe::LayerParameter &layer = *layers[i];
    if (fates[i] == Fate::Input)
      for (const std::string &top : layer.top())
        sources[top] = {top};
    std::set<std::string> read;
    for (int bottom = 0; bottom < layer.bottom_size(); ++bottom) {
      const auto found = sources.find(layer.bottom(bottom));
      if (found == sources.end() || fates[i] == Fate::Unused)
        continue;
      if (bottom > 0 && isLossOrMetric(layer.type()))
        compared.insert(found->second.begin(), found->second.end());
      else
        read.insert(found->second.begin(), found->second.end());
    }
    const bool isRearranged =
        rearranges(layer.type()) &&
        std::all_of(layer.top().begin(), layer.top().end(),
                    [&](const auto &top) { return isReadAfter(i, top); });
    if (!isRearranged)
      used.insert(read.begin(), read.end());
    for (const std::string &top : layer.top())
      if (isRearranged && !read.empty())
        sources[top] = read;
      else if (fates[i] != Fate::Input)
        sources.erase(top);
  }
  for (const std::string &top : used)
    compared.erase(top);
  return compared;
}

/// Finds the tops of data layers, and the blobs that depend on labels only.
void LayerFates::findLabels() {
  labels = findComparedTops();
  for (const caffe::LayerParameter *layer : layers) {
    const caffe::DataLayerKind *data = caffe::findDataLayerKind(layer->type());
    const bool isData = layer->bottom_size() == 0;
    const bool readsLabelsOnly =
        !isData && std::all_of(layer->bottom().begin(), layer->bottom().end(),
                               [&](const std::string &blob) {
                                 return labels.count(blob) > 0;
                               });
    for (int i = 0; i < layer->top_size(); ++i) {
      const std::string &top = layer->top(i);
      if (isData)
        dataTops.insert(top);
      // A layer of arrays does not say which of them are labels.
      const bool isLabelTop =
          isData && data &&
          (data->isLabel(i) ||
           (i == 1 &&
            (data->source == caffe::DataLayerSource::Memory ||
             data->source == caffe::DataLayerSource::Annotated ||
             data->source == caffe::DataLayerSource::LabeledPixels)) ||
           (data->source == caffe::DataLayerSource::Text && i == 2) ||
           (data->source == caffe::DataLayerSource::Hdf5 &&
            top.find("label") != std::string::npos));
      if (readsLabelsOnly || isLabelTop)
        labels.insert(top);
    }
  }
}

} // namespace brew::prototxt
