//===- WeightBinding.cpp - Weight files against a plan's parameters --------===//
#include "runtime/weights/WeightBinding.h"

#include "formats/Error.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/weights/Layout.h"

#include <algorithm>
#include <set>
#include <utility>

namespace brew::runtime {
namespace {

/// Blobs per layer that a file may name; no layer of Caffe has a tenth of it.
constexpr std::uint32_t kMostBlobs = 64;

/// "a, b, c and 4 more".
std::string listText(const std::vector<std::string> &names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i ? ", " : "") + names[i];
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

} // namespace

bool fits(const formats::Blob &blob, const std::vector<std::int64_t> &dims) {
  if (blob.dims == dims)
    return true;
  return blob.legacyShape &&
         static_cast<std::int64_t>(blob.size()) == product(dims);
}

std::vector<FileLayer> fileLayersOf(const plan::Manifest &manifest) {
  std::vector<FileLayer> fileLayers;
  auto place = [&](const std::string &name, std::uint32_t index,
                   const plan::Parameter &parameter,
                   std::vector<std::int64_t> dims, const std::string &type,
                   bool sharer) {
    const plan::Buffer &buffer =
        manifest.buffers(static_cast<int>(parameter.buffer_index()));
    if (index >= kMostBlobs || product(dims) != plan::elementCount(buffer))
      throw badInput("damaged plan: parameter " + std::to_string(index) +
                     " of layer '" + name + "' does not match its buffer");
    auto layer = std::find_if(
        fileLayers.begin(), fileLayers.end(),
        [&](const FileLayer &candidate) { return candidate.name == name; });
    if (layer == fileLayers.end())
      layer = fileLayers.insert(fileLayers.end(), FileLayer{name, type, {}});
    if (layer->blobs.size() <= index)
      layer->blobs.resize(index + 1, FileBlob{nullptr, {}, false});
    layer->blobs[index] = {&parameter, std::move(dims), sharer};
  };
  for (const plan::Parameter &parameter : manifest.parameters()) {
    place(parameter.layer(), parameter.index(), parameter,
          toVector(parameter.file_dims()), parameter.layer_type(), false);
    for (const plan::Parameter::Sharer &sharer : parameter.sharers())
      place(sharer.layer(), sharer.index(), parameter,
            toVector(sharer.file_dims()), sharer.layer_type(), true);
  }
  return fileLayers;
}

std::string bindWeights(
    const std::vector<FileLayer> &layers, const formats::Weights &weights,
    const std::string &source,
    const std::function<void(std::uint32_t, const formats::Blob &)> &write) {
  std::vector<std::string> problems, onlyInFile, onlyInNet;
  std::vector<std::pair<const FileBlob *, const formats::Blob *>> matches;
  std::set<std::string> common;

  for (const formats::WeightLayer &from : weights.layers) {
    auto layer = std::find_if(layers.begin(), layers.end(),
                              [&](const FileLayer &candidate) {
                                return candidate.name == from.name;
                              });
    if (layer == layers.end()) {
      if (!from.blobs.empty())
        onlyInFile.push_back(from.name);
      continue;
    }
    common.insert(from.name);
    if (from.blobs.size() != layer->blobs.size()) {
      problems.push_back("layer '" + from.name + "' has " +
                         std::to_string(from.blobs.size()) +
                         " blobs there and " +
                         std::to_string(layer->blobs.size()) + " in the net");
      continue;
    }
    for (std::size_t i = 0; i < from.blobs.size(); ++i) {
      const FileBlob &to = layer->blobs[i];
      if (!to.parameter)
        continue; // the net has no use for this one
      if (!fits(from.blobs[i], to.dims))
        problems.push_back(
            "layer '" + from.name + "' blob " + std::to_string(i) + " is " +
            formats::dimsText(from.blobs[i].dims) + " there and " +
            formats::dimsText(to.dims) + " in the net");
      matches.emplace_back(&to, &from.blobs[i]);
    }
  }
  if (common.empty())
    throw badInput(source + ": no layer with parameters has the name of a "
                            "layer of this net; are these weights of another "
                            "net?");
  if (!problems.empty()) {
    std::string text = source + ": the weights do not fit the net";
    for (const std::string &problem : problems)
      text += "\n  " + problem;
    throw badInput(text);
  }
  for (const auto &[to, blob] : matches)
    write(to->parameter->buffer_index(), *blob);

  for (const FileLayer &layer : layers)
    if (!common.count(layer.name))
      onlyInNet.push_back(layer.name);
  std::string summary;
  if (!onlyInFile.empty())
    summary += "Ignoring " + std::to_string(onlyInFile.size()) +
               " source layers that the net lacks (" + listText(onlyInFile) +
               ")";
  if (!onlyInNet.empty())
    summary +=
        (summary.empty() ? "" : "; ") + std::to_string(onlyInNet.size()) +
        " layers of the net are not in the file and keep their values (" +
        listText(onlyInNet) + ")";
  return summary;
}

} // namespace brew::runtime
