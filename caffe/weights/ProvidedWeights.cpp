//===- ProvidedWeights.cpp - Parameters with explicit values --------------===//

#include "caffe/weights/ProvidedWeights.h"

#include "plan/PlanFile.h"

#include <algorithm>

namespace brew::caffe {
namespace {

std::string joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

} // namespace

ProvidedWeights::ProvidedWeights(const plan::Manifest &manifest)
    : hasAll(plan::embedsWeights(manifest)) {
  std::set<std::string> layers;
  for (const plan::Parameter &parameter : manifest.parameters())
    if (parameter.has_initial_segment_index())
      layers.insert(parameter.layer());
  for (const std::string &layer : layers)
    add(manifest, layer);
}

void ProvidedWeights::add(const plan::Manifest &manifest,
                          const std::string &layer) {
  for (const plan::Parameter &parameter : manifest.parameters())
    if (parameter.layer() == layer)
      add(parameter.buffer_index());
}

void ProvidedWeights::add(const WeightBinding &binding) {
  for (const auto &[buffer, blob] : binding.values)
    add(buffer);
  for (const LayerBlobs *layer : binding.matched)
    for (const LayerBlob &blob : layer->blobs)
      if (blob.buffer)
        add(*blob.buffer);
}

std::vector<std::string> ProvidedWeights::layersWithoutWeights(
    const std::vector<LayerBlobs> &layers) const {
  std::vector<std::string> names;
  if (hasAll)
    return names;
  for (const LayerBlobs &layer : layers)
    if (std::any_of(layer.blobs.begin(), layer.blobs.end(),
                    [&](const LayerBlob &blob) {
                      return blob.buffer && !blob.sharer &&
                             !buffers.count(*blob.buffer);
                    }))
      names.push_back(layer.name);
  return names;
}

std::string missingWeightsText(const std::vector<std::string> &files,
                               const std::vector<std::string> &layers,
                               bool isError) {
  return joinNames(files) + (files.empty() ? "" : ": ") + "no weights for " +
         std::to_string(layers.size()) +
         (layers.size() == 1 ? " layer" : " layers") + " of the net" +
         (isError ? " (--allow-missing-weights leaves them to fillers): "
                  : ", left to fillers: ") +
         joinNames(layers);
}

} // namespace brew::caffe
