//===- UnknownTypes.cpp - Errors about unknown layer types ----------------===//

#include "frontends/prototxt/check/UnknownTypes.h"

#include "frontends/prototxt/check/LayerKinds.h"
#include "support/JoinNames.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace brew::prototxt {
namespace {

/// Returns "'a' (line 3), 'b' (line 9) and 4 more have this type, too"
/// for the layers after the first.
std::string placesText(const std::vector<Diagnostic> &layers) {
  constexpr size_t kShown = 5;
  const size_t others = layers.size() - 1;
  std::vector<std::string> places;
  for (size_t i = 1; i <= std::min(others, kShown); ++i)
    places.push_back("'" + layers[i].layer + "' (line " +
                     std::to_string(layers[i].where.line) + ")");
  if (others > kShown)
    places.push_back(std::to_string(others - kShown) + " more");
  return joinNames(places, "and") + (others == 1 ? " has" : " have") +
         " this type, too";
}

bool isBefore(const Diagnostic &a, const Diagnostic &b) {
  return std::tie(a.where.line, a.where.column) <
         std::tie(b.where.line, b.where.column);
}

} // namespace

void reportUnknownType(const caffe::LayerParameter &layer,
                       const SourceMap &locations, Diagnostics &diagnostics) {
  diagnostics
      .error(locations.whereValue(layer, "type"),
             LayerText(layer.name(), "") + unknownTypeText(layer.type()))
      .unknownType = layer.type();
}

void mergeUnknownTypes(Diagnostics &diagnostics) {
  // The indices of the errors about each type in each file.
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> groups;
  for (size_t i = 0; i < diagnostics.size(); ++i)
    if (const Diagnostic &error = diagnostics.at(i); !error.unknownType.empty())
      groups[{error.where.file, error.unknownType}].push_back(i);
  std::vector<size_t> merged;
  for (const auto &[key, indices] : groups) {
    if (indices.size() == 1)
      continue;
    std::vector<Diagnostic> layers;
    for (size_t index : indices)
      layers.push_back(diagnostics.at(index));
    std::stable_sort(layers.begin(), layers.end(), isBefore);
    Diagnostic &first = diagnostics.at(indices.front());
    first = layers.front();
    first.text = LayerText(first.layer, "").text +
                 unknownTypeText(first.unknownType, layers.size());
    first.note(layers[1].where, placesText(layers));
    merged.insert(merged.end(), indices.begin() + 1, indices.end());
  }
  std::sort(merged.begin(), merged.end());
  for (auto index = merged.rbegin(); index != merged.rend(); ++index)
    diagnostics.erase(*index);
}

void explainUnknownTypes(Diagnostics &diagnostics) {
  for (size_t i = diagnostics.size(); i-- > 0;) {
    Diagnostic &error = diagnostics.at(i);
    if (error.unknownType.empty() || isTypeMisspelled(error.unknownType))
      continue;
    error.note(error.where,
               "the program that runs the plan can compute such layers "
               "(--host-layer=" +
                   error.unknownType +
                   "), and Python's package caffe runs layers of type "
                   "\"Python\"");
    return;
  }
}

} // namespace brew::prototxt
