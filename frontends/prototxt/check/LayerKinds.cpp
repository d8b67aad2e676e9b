//===- LayerKinds.cpp - Caffe's layer types -------------------------------===//

#include "frontends/prototxt/check/LayerKinds.h"

#include "formats/V1Layers.h"
#include "frontends/prototxt/upgrade/ForkFields.h"
#include "support/Suggest.h"

#include <cctype>
#include <unordered_map>

namespace brew::prototxt {

const LayerRows &layerKinds() {
  static const LayerRows kinds = [] {
    LayerRows rows;
    for (auto *group :
         {annotatedLayers,     arrayLayers,       attentionLayers,
          convolutionLayers,   dataLayers,        denseBlockLayers,
          detectionLayers,     elementwiseLayers, expressionLayers,
          functionLayers,      indexingLayers,    hostLayers,
          lossLayers,          multiBoxLayers,    neuronLayers,
          normalizationLayers, poolingLayers,     proposalLayers,
          recurrentLayers,     reductionLayers,   resampleLayers,
          shapeLayers,         yoloLayers})
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

namespace {

/// Returns `name` without the separators of words, in lower case.
std::string withoutSeparators(const std::string &name) {
  std::string text;
  for (char c : name)
    if (c != '_' && c != '-' && c != ' ')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns the type whose name in the old form `layers` is `type` (SoftmaxLoss,
/// SOFTMAX_LOSS), or "".
std::string typeOfOldName(const std::string &type) {
  const auto *oldTypes = caffe::V1LayerParameter::LayerType_descriptor();
  for (int i = 0; i < oldTypes->value_count(); ++i)
    if (withoutSeparators(oldTypes->value(i)->name()) ==
        withoutSeparators(type))
      return formats::v1LayerTypeName(
          static_cast<caffe::V1LayerParameter::LayerType>(
              oldTypes->value(i)->number()));
  return "";
}

/// Returns the known type that `type`, which no fork is known to have, is
/// probably a misspelling of, or "".
std::string suggestedType(const std::string &type) {
  if (std::string current = typeOfOldName(type); findLayerKind(current))
    return current;
  // A type whose name differs only in case is always the suggestion.
  std::vector<std::string> names;
  for (const LayerKind &kind : layerKinds()) {
    if (withoutSeparators(kind.type) == withoutSeparators(type))
      return kind.type;
    if (isLikelyMisspelling(type, kind.type))
      names.emplace_back(kind.type);
  }
  return nearestName(type, names);
}

} // namespace

bool isTypeMisspelled(const std::string &type) {
  return type.empty() ||
         (forksWithLayerType(type).empty() && !suggestedType(type).empty());
}

std::string unknownTypeText(const std::string &type, size_t layerCount) {
  if (type.empty())
    return "the layer has no type";
  std::string text = "unknown layer type '" + type + "'";
  if (layerCount > 1)
    text += " of " + std::to_string(layerCount) + " layers";
  if (const std::string forks = forksWithLayerType(type); !forks.empty())
    return text + forkHint(forks);
  if (const std::string meant = suggestedType(type); !meant.empty())
    text += "; did you mean '" + meant + "'?";
  return text;
}

} // namespace brew::prototxt
