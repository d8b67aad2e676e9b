//===- LayerKinds.cpp - Caffe's layer types -------------------------------===//

#include "frontends/prototxt/check/LayerKinds.h"

#include "frontends/prototxt/upgrade/ForkFields.h"
#include "support/Suggest.h"

#include <strings.h>
#include <unordered_map>

namespace brew::prototxt {

const LayerRows &layerKinds() {
  static const LayerRows kinds = [] {
    LayerRows rows;
    for (auto *group :
         {annotatedLayers, convolutionLayers, dataLayers, detectionLayers,
          elementwiseLayers, expressionLayers, indexingLayers, hostLayers,
          lossLayers, multiBoxLayers, neuronLayers, normalizationLayers,
          poolingLayers, proposalLayers, recurrentLayers, reductionLayers,
          resampleLayers, shapeLayers})
      for (const LayerKind &kind : group())
        rows.push_back(kind);
    return rows;
  }();
  return kinds;
}

bool LayerKind::reads(const std::string &block) const {
  const std::string padded = " " + std::string(settings) + " ";
  return padded.find(" " + block + " ") != std::string::npos;
}

const LayerKind *findLayerKind(const std::string &type) {
  static const auto byName = [] {
    std::unordered_map<std::string, const LayerKind *> kinds;
    for (const LayerKind &kind : layerKinds())
      kinds.emplace(kind.type, &kind);
    return kinds;
  }();
  auto found = byName.find(type);
  return found == byName.end() ? nullptr : found->second;
}

std::vector<ParamBlob> paramsOf(const LayerKind &kind,
                                const caffe::LayerParameter &layer) {
  return kind.params ? kind.params(layer) : std::vector<ParamBlob>();
}

const LayerKind *suggestedLayerKind(const std::string &type) {
  if (type.empty() || forkOwningLayerType(type))
    return nullptr;
  // A type whose name differs only in case is always the suggestion.
  std::vector<std::string> names;
  for (const LayerKind &kind : layerKinds())
    names.insert(strcasecmp(kind.type, type.c_str()) ? names.end()
                                                     : names.begin(),
                 kind.type);
  return findLayerKind(nearestName(type, names));
}

std::string unknownTypeText(const std::string &type) {
  if (type.empty())
    return "the layer has no type";
  std::string text = "unknown layer type '" + type + "'";
  if (const char *fork = forkOwningLayerType(type))
    return text + "; it belongs to " + fork + ", not to BVLC Caffe 1.0";
  if (const LayerKind *meant = suggestedLayerKind(type))
    text += std::string("; did you mean '") + meant->type + "'?";
  return text;
}

} // namespace brew::prototxt
