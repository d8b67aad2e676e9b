//===- WeightBinding.cpp - Matching of weight files to a plan -------------===//
#include "caffe/weights/WeightBinding.h"

#include "caffe/weights/BufferLayout.h"
#include "plan/PlanFile.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace brew::caffe {
namespace {

/// Maximum number of blobs of a layer; more than ten times that of any Caffe
/// layer.
constexpr std::uint32_t kMaxBlobs = 64;

/// Returns "a, b, c and 4 more".
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

bool takesAnyShape(const LayerParameter &layer) {
  return !layer.strict_dim() || layer.type() == "Convolution3D" ||
         layer.type() == "Deconvolution3D";
}

bool fits(const formats::Blob &blob, const std::vector<std::int64_t> &dims) {
  if (blob.dims == dims)
    return true;
  return blob.legacyShape &&
         static_cast<std::int64_t>(blob.size()) == product(dims);
}

std::vector<LayerBlobs> layersWithParameters(const plan::Manifest &manifest) {
  std::vector<LayerBlobs> layerBlobs;
  auto addBlob = [&](const std::string &name, std::uint32_t index,
                     const plan::Parameter &parameter,
                     std::vector<std::int64_t> dims, const std::string &type,
                     bool sharer) {
    const plan::Buffer &buffer =
        manifest.buffers(static_cast<int>(parameter.buffer_index()));
    if (index >= kMaxBlobs || product(dims) != plan::elementCount(buffer))
      throw badInput("damaged plan: parameter " + std::to_string(index) +
                     " of layer '" + name + "' does not match its buffer");
    auto layer = std::find_if(
        layerBlobs.begin(), layerBlobs.end(),
        [&](const LayerBlobs &candidate) { return candidate.name == name; });
    if (layer == layerBlobs.end())
      layer = layerBlobs.insert(layerBlobs.end(), LayerBlobs{name, type, {}});
    if (layer->blobs.size() <= index)
      layer->blobs.resize(index + 1, LayerBlob{nullptr, {}, false, {}});
    layer->blobs[index] = {&parameter, std::move(dims), sharer,
                           parameter.buffer_index(),
                           parameter.any_file_shape()};
  };
  for (const plan::Parameter &parameter : manifest.parameters()) {
    addBlob(parameter.layer(), parameter.index(), parameter,
            toVector(parameter.file_dims()), parameter.layer_type(), false);
    for (const plan::Parameter::Sharer &sharer : parameter.sharers())
      addBlob(sharer.layer(), sharer.index(), parameter,
              toVector(sharer.file_dims()), sharer.layer_type(), true);
  }
  return layerBlobs;
}

namespace {

/// Matches the blobs layer by layer and collects all errors.
class WeightMatcher {
public:
  explicit WeightMatcher(const formats::Weights &weights) : weights(weights) {}

  void addLayer(const formats::WeightLayer &fileLayer,
                const LayerBlobs &netLayer);

  std::vector<std::string> problems;
  WeightBinding result;

private:
  using Blobs = std::vector<const formats::Blob *>;

  void addBlobs(const std::string &name, const Blobs &fileBlobs,
                const LayerBlobs &netLayer, bool compareCounts);
  bool addBatchNorm(const formats::WeightLayer &fileLayer,
                    const LayerBlobs &netLayer);
  const formats::Blob *addConstant(double value) {
    result.synthesized.push_back({{1}, {static_cast<float>(value)}, {}, false});
    return &result.synthesized.back();
  }

  const formats::Blob *addScaledCopy(const formats::Blob &blob, double factor) {
    formats::Blob &copy = result.synthesized.emplace_back(blob);
    for (float &value : copy.floats)
      value = static_cast<float>(value * factor);
    for (double &value : copy.doubles)
      value *= factor;
    return &copy;
  }

  const formats::Weights &weights;
};

double firstValue(const formats::Blob &blob) {
  const std::vector<double> values = blob.toDoubles();
  return values.empty() ? 0 : values[0];
}

bool allEqual(const formats::Blob &blob, double value) {
  const std::vector<double> values = blob.toDoubles();
  return std::all_of(values.begin(), values.end(),
                     [value](double element) { return element == value; });
}

/// Matches the blobs of a layer. An entry of `fileBlobs` is null if the file
/// has no values for it.
/// Without an early exit, so that the compiler vectorizes the loop.
template <typename T> bool areFinite(const std::vector<T> &values) {
  bool finite = true;
  for (T value : values)
    finite &= std::abs(value) <= std::numeric_limits<T>::max();
  return finite;
}

bool isFinite(const formats::Blob &blob) {
  return areFinite(blob.floats) && areFinite(blob.doubles);
}

void WeightMatcher::addBlobs(const std::string &name, const Blobs &fileBlobs,
                             const LayerBlobs &netLayer, bool compareCounts) {
  for (std::size_t i = 0; i < netLayer.blobs.size(); ++i) {
    const LayerBlob &blob = netLayer.blobs[i];
    if (!blob.buffer || !fileBlobs[i])
      continue; // the net does not use this blob, or keeps its value
    const bool matches = compareCounts || blob.anyShape
                             ? static_cast<std::int64_t>(
                                   fileBlobs[i]->size()) == product(blob.dims)
                             : fits(*fileBlobs[i], blob.dims);
    if (!matches)
      problems.push_back("layer '" + name + "' blob " + std::to_string(i) +
                         " is " + formats::dimsText(fileBlobs[i]->dims) +
                         " there and " + formats::dimsText(blob.dims) +
                         " in the net");
    result.values.emplace_back(*blob.buffer, fileBlobs[i]);
    if (!isFinite(*fileBlobs[i]) &&
        (result.notFinite.empty() || result.notFinite.back() != name))
      result.notFinite.push_back(name);
  }
}

/// Converts between the BatchNorm blobs of Caffe and NVCaffe. Caffe stores
/// mean, variance and the factor by which both are scaled. NVCaffe stores scale
/// and bias after them, or before them in its older form, and ignores the
/// factor. Returns false if there is nothing to convert.
bool WeightMatcher::addBatchNorm(const formats::WeightLayer &fileLayer,
                                 const LayerBlobs &netLayer) {
  constexpr std::size_t kCaffeBlobs = 3, kNvcaffeBlobs = 5;
  const std::size_t fileCount = fileLayer.blobs.size(),
                    netCount = netLayer.blobs.size();
  if (netLayer.type != "BatchNorm" ||
      (fileCount != kCaffeBlobs && fileCount != kNvcaffeBlobs) ||
      (netCount != kCaffeBlobs && netCount != kNvcaffeBlobs) ||
      (fileCount == kCaffeBlobs && netCount == kCaffeBlobs))
    return false;
  Blobs blobs;
  for (const formats::Blob &blob : fileLayer.blobs)
    blobs.push_back(&blob);
  if (fileCount == kNvcaffeBlobs && blobs[2]->size() != 1)
    blobs = {blobs[2], blobs[3], blobs[4], blobs[0], blobs[1]};
  const double factor = firstValue(*blobs[2]);
  if (factor == 0 && !allEqual(*blobs[1], 0)) {
    blobs[2] = addConstant(1);
  } else if (fileCount == kCaffeBlobs && factor != 0 && factor != 1) {
    blobs[0] = addScaledCopy(*blobs[0], 1 / factor);
    blobs[1] = addScaledCopy(*blobs[1], 1 / factor);
    blobs[2] = addConstant(1);
  }
  if (fileCount == kNvcaffeBlobs && netCount == kCaffeBlobs &&
      !(allEqual(*blobs[3], 1) && allEqual(*blobs[4], 0)))
    problems.push_back("layer '" + fileLayer.name +
                       "' has a scale and a bias there (blobs 3 and 4), which "
                       "the net's layer lacks (scale_bias)");
  blobs.resize(netCount);
  addBlobs(fileLayer.name, blobs, netLayer, /*compareCounts=*/true);
  return true;
}

void WeightMatcher::addLayer(const formats::WeightLayer &fileLayer,
                             const LayerBlobs &netLayer) {
  if (addBatchNorm(fileLayer, netLayer))
    return;
  Blobs blobs;
  for (std::size_t i = 0; i < fileLayer.blobs.size(); ++i)
    blobs.push_back(fileLayer.shared.count(i) ? nullptr : &fileLayer.blobs[i]);
  // An HDF5 file stores shared values under their owner only.
  while (weights.hdf5 && blobs.size() < netLayer.blobs.size() &&
         netLayer.blobs[blobs.size()].sharer)
    blobs.push_back(nullptr);
  for (std::size_t i = 0; i < std::min(blobs.size(), netLayer.blobs.size());
       ++i)
    if (!blobs[i] && netLayer.blobs[i].buffer && !netLayer.blobs[i].sharer)
      problems.push_back("layer '" + fileLayer.name + "' blob " +
                         std::to_string(i) + " is not there");
  if (blobs.size() != netLayer.blobs.size()) {
    problems.push_back("layer '" + fileLayer.name + "' has " +
                       std::to_string(fileLayer.blobs.size()) +
                       " blobs there and " +
                       std::to_string(netLayer.blobs.size()) + " in the net");
    return;
  }
  addBlobs(fileLayer.name, blobs, netLayer, /*compareCounts=*/false);
}

/// Returns whether a file may lack the layer, since other layers own all its
/// blobs.
bool sharesEverything(const LayerBlobs &layer) {
  return std::all_of(
      layer.blobs.begin(), layer.blobs.end(),
      [](const LayerBlob &blob) { return blob.sharer || !blob.buffer; });
}

} // namespace

WeightBinding matchWeights(const std::vector<LayerBlobs> &layers,
                           const formats::Weights &weights,
                           const std::string &source) {
  std::set<std::string> matchedNames;
  WeightMatcher matcher(weights);
  WeightBinding &result = matcher.result;
  for (const formats::WeightLayer &fileLayer : weights.layers) {
    auto layer = std::find_if(layers.begin(), layers.end(),
                              [&](const LayerBlobs &candidate) {
                                return candidate.name == fileLayer.name;
                              });
    if (layer == layers.end()) {
      if (!fileLayer.blobs.empty())
        result.onlyInFile.push_back(fileLayer.name);
      continue;
    }
    matchedNames.insert(fileLayer.name);
    result.matched.push_back(&*layer);
    matcher.addLayer(fileLayer, *layer);
  }
  if (!matcher.problems.empty()) {
    std::string text = source + ": the weights do not match the net";
    for (const std::string &problem : matcher.problems)
      text += "\n  " + problem;
    throw badInput(text + "\n  are they of this net? (to learn a layer's "
                          "parameters from scratch, rename the layer)");
  }
  for (const LayerBlobs &layer : layers)
    if (!matchedNames.count(layer.name) &&
        !(weights.hdf5 && sharesEverything(layer)))
      result.onlyInNet.push_back(layer.name);
  return std::move(result);
}

WeightBinding bindWeights(const std::vector<LayerBlobs> &layers,
                          const formats::Weights &weights,
                          const std::string &source) {
  WeightBinding binding = matchWeights(layers, weights, source);
  if (binding.matched.empty())
    throw badInput(source + ": no layer with parameters has the name of a "
                            "layer of this net; are these weights of another "
                            "net?");
  return binding;
}

std::vector<std::string>
unmatchedLayersLines(const WeightBinding &binding,
                     const std::vector<std::string> &except) {
  std::vector<std::string> lines;
  for (const std::string &layer : binding.onlyInFile)
    lines.push_back("Ignoring source layer " + layer);
  std::vector<std::string> onlyInNet;
  std::copy_if(binding.onlyInNet.begin(), binding.onlyInNet.end(),
               std::back_inserter(onlyInNet), [&](const std::string &layer) {
                 return std::find(except.begin(), except.end(), layer) ==
                        except.end();
               });
  if (!onlyInNet.empty())
    lines.push_back(
        std::to_string(onlyInNet.size()) +
        (onlyInNet.size() == 1
             ? " layer of the net is not in the file and keeps its values: "
             : " layers of the net are not in the file and keep their "
               "values: ") +
        listText(onlyInNet));
  return lines;
}

std::optional<std::string> notFiniteText(const WeightBinding &binding) {
  const std::vector<std::string> &layers = binding.notFinite;
  if (layers.empty())
    return {};
  return "weights of " + std::to_string(layers.size()) +
         (layers.size() == 1 ? " layer" : " layers") +
         " are NaN or infinite, as after training that diverged: " +
         listText(layers);
}

void checkHistory(const std::vector<formats::Blob> &history,
                  const std::vector<HistoryTensor> &tensors,
                  const std::string &source) {
  if (history.size() != tensors.size())
    throw badInput(source + ": the state has " +
                   std::to_string(history.size()) +
                   " history blobs; this net and solver have " +
                   std::to_string(tensors.size()));
  std::string problems;
  for (std::size_t i = 0; i < history.size(); ++i)
    if (!fits(history[i], tensors[i].dims))
      problems += "\n  history " + std::to_string(i) + " is " +
                  formats::dimsText(history[i].dims) + " there and " +
                  formats::dimsText(tensors[i].dims) + " for parameter " +
                  tensors[i].parameter;
  if (!problems.empty())
    throw badInput(source + ": the solver state does not fit the net" +
                   problems);
}

} // namespace brew::caffe
