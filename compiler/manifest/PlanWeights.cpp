//===- PlanWeights.cpp - Weights inside a plan ----------------------------===//
#include "compiler/manifest/PlanWeights.h"

#include "caffe/weights/BufferLayout.h"
#include "caffe/weights/InitialValues.h"
#include "caffe/weights/ProvidedWeights.h"
#include "caffe/weights/WeightBinding.h"
#include "dialects/Brew/BrewDialect.h"
#include "formats/PathLookup.h"
#include "formats/WeightFile.h"
#include "support/Error.h"

#include <set>
#include <thread>

using namespace brew;
using namespace brew::compiler;

void compiler::checkInlineBlobs(mlir::ModuleOp module,
                                const prototxt::InlineBlobs &blobs,
                                prototxt::Diagnostics &diagnostics) {
  std::set<std::pair<std::string, int>> checkedBlobs;
  for (auto program : module.getOps<dialects::ProgramOp>()) {
    mlir::DictionaryAttr params = program.getParamsAttr();
    if (!params)
      continue;
    for (const auto &[key, inlineValues] : blobs) {
      auto shapes = params.getAs<mlir::ArrayAttr>(key.first);
      if (!shapes || key.second >= static_cast<int>(shapes.size()) ||
          !checkedBlobs.insert(key).second)
        continue;
      auto shape =
          mlir::cast<mlir::DenseI64ArrayAttr>(shapes[key.second]).asArrayRef();
      const std::vector<int64_t> dims(shape.begin(), shape.end());
      if (!caffe::fits(inlineValues.blob, dims))
        diagnostics.error(
            inlineValues.where,
            inlineValues.layerPrefix + "blobs " + std::to_string(key.second) +
                " is " + formats::dimsText(inlineValues.blob.dims) +
                ", but the layer's parameter is " + formats::dimsText(dims));
    }
  }
}

namespace {

template <typename Element>
std::string bytesOf(const std::vector<Element> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Element)};
}

/// Returns a parameter's values from the prototxt as bytes in the plan's
/// precision; empty if there are none.
std::string inlineBytes(const prototxt::InlineBlobs &blobs,
                        const plan::Manifest &manifest,
                        const plan::Parameter &parameter) {
  auto inlineValues =
      blobs.find({parameter.layer(), static_cast<int>(parameter.index())});
  if (inlineValues == blobs.end())
    return {};
  return manifest.target().precision() == plan::F64
             ? bytesOf(inlineValues->second.blob.toDoubles())
             : bytesOf(inlineValues->second.blob.toFloats());
}

/// Reports layers that only `file` or only the net has. Throws Error (BadInput)
/// as embedWeights() does.
void reportUnmatchedLayers(const caffe::WeightBinding &binding,
                           const std::vector<caffe::LayerBlobs> &layers,
                           const prototxt::InlineBlobs &blobs,
                           const plan::Manifest &manifest,
                           const std::string &file, bool allowMissing,
                           prototxt::Diagnostics &diagnostics) {
  caffe::ProvidedWeights provided(manifest);
  for (const auto &[key, blob] : blobs)
    provided.add(manifest, key.first);
  provided.add(binding);
  const std::vector<std::string> missingLayers =
      provided.layersWithoutWeights(layers);
  if (!missingLayers.empty() && !allowMissing && plan::isForInference(manifest))
    throw badInput(
        caffe::missingWeightsText({file}, missingLayers, /*isError=*/true));
  if (const auto text = caffe::notFiniteText(binding))
    diagnostics.warning({file}, *text);
  for (const std::string &line :
       caffe::unmatchedLayersLines(binding, missingLayers))
    diagnostics.add({prototxt::Severity::Note, {file}, line});
  if (!missingLayers.empty())
    diagnostics.warning({file}, caffe::missingWeightsText({}, missingLayers,
                                                          /*isError=*/false));
}

} // namespace

void compiler::addInlineBlobs(const prototxt::InlineBlobs &blobs,
                              plan::Manifest &manifest,
                              std::vector<std::string> &segments) {
  for (plan::Parameter &parameter : *manifest.mutable_parameters()) {
    std::string bytes = inlineBytes(blobs, manifest, parameter);
    if (bytes.empty())
      continue;
    parameter.set_initial_segment_index(segments.size());
    manifest.add_segments()->set_kind(plan::Segment::WEIGHTS);
    segments.push_back(std::move(bytes));
  }
}

void compiler::embedWeights(const std::string &path, bool allowMissing,
                            const prototxt::InlineBlobs &blobs,
                            plan::Manifest &manifest,
                            std::vector<std::string> &segments,
                            prototxt::Diagnostics &diagnostics) {
  constexpr std::uint64_t seed = 0;
  const int threads =
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::string file = formats::requirePath(path, {}, "weights");
  for (plan::Arena &arena : *manifest.mutable_arenas()) {
    if (arena.kind() != plan::PARAMETERS)
      continue;
    std::string bytes(arena.size(), '\0');
    auto memoryOf = [&](std::uint32_t buffer) {
      return reinterpret_cast<std::byte *>(bytes.data()) +
             manifest.buffers(static_cast<int>(buffer)).offset();
    };
    for (const plan::Parameter &parameter : manifest.parameters()) {
      const std::string inlineValues = inlineBytes(blobs, manifest, parameter);
      caffe::writeInitialValues(
          manifest, parameter,
          inlineValues.empty()
              ? nullptr
              : reinterpret_cast<const std::byte *>(inlineValues.data()),
          seed, threads, memoryOf(parameter.buffer_index()));
    }
    const formats::Weights weights = formats::readWeights(file);
    const std::vector<caffe::LayerBlobs> layers =
        caffe::layersWithParameters(manifest);
    const caffe::WeightBinding binding =
        caffe::bindWeights(layers, weights, file);
    reportUnmatchedLayers(binding, layers, blobs, manifest, file, allowMissing,
                          diagnostics);
    for (const auto &[index, blob] : binding.values) {
      const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
      if (blob->isDouble())
        caffe::store(buffer, blob->doubles.data(), memoryOf(index));
      else
        caffe::store(buffer, blob->floats.data(), memoryOf(index));
    }
    arena.set_initial_segment_index(segments.size());
    manifest.add_segments()->set_kind(plan::Segment::WEIGHTS);
    segments.push_back(std::move(bytes));
  }
}
