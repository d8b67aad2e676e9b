//===- Parameters.cpp - Learnable parameters of a loaded plan -------------===//

#include "runtime/session/Parameters.h"

#include "caffe/weights/BufferLayout.h"
#include "caffe/weights/InitialValues.h"
#include "support/Error.h"

#include <algorithm>
#include <set>

namespace brew::runtime {
namespace {

template <typename Element>
double sumOfSquares(const caffe::ElementOrder &order, const std::byte *memory) {
  auto *elements = reinterpret_cast<const Element *>(memory);
  double sum = 0;
  order.forEachRun(0, order.count(),
                   [&](std::int64_t, std::int64_t position, std::int64_t length,
                       std::int64_t step) {
                     for (std::int64_t i = 0; i < length; ++i) {
                       const double value = elements[position + i * step];
                       sum += value * value;
                     }
                   });
  return sum;
}

} // namespace

Parameters::Parameters(Executor &planExecutor, Events *listeners)
    : manifest(planExecutor.manifest()), executor(planExecutor),
      events(listeners), layerBlobs(caffe::layersWithParameters(manifest)) {}

void Parameters::fill(std::uint64_t seed) {
  for (const plan::Parameter &parameter : manifest.parameters())
    fill(parameter, seed);
}

void Parameters::fill(const plan::Parameter &parameter, std::uint64_t seed,
                      const caffe::FillerParameter *filler) {
  plan::Parameter changed;
  if (filler) {
    changed = parameter;
    changed.set_filler(filler->SerializeAsString());
  }
  const std::byte *inlineValues =
      !filler && parameter.has_initial_segment_index()
          ? executor.segment(parameter.initial_segment_index())
          : nullptr;
  executor.overwrite(parameter.buffer_index(), [&](std::byte *memory) {
    caffe::writeInitialValues(manifest, filler ? changed : parameter,
                              inlineValues, seed, executor.threads(), memory);
  });
}

formats::Blob Parameters::read(std::uint32_t bufferIndex,
                               const std::vector<std::int64_t> &dims) const {
  const plan::Buffer &buffer = manifest.buffers(static_cast<int>(bufferIndex));
  const auto count = static_cast<std::size_t>(plan::elementCount(buffer));
  formats::Blob blob;
  blob.dims = dims;
  executor.read(bufferIndex, [&](const std::byte *bytes) {
    if (buffer.type() == plan::F64) {
      blob.doubles.resize(count);
      caffe::load(buffer, bytes, blob.doubles.data());
    } else {
      blob.floats.resize(count);
      caffe::load(buffer, bytes, blob.floats.data());
    }
  });
  return blob;
}

void Parameters::write(std::uint32_t bufferIndex, const formats::Blob &blob) {
  const plan::Buffer &buffer = manifest.buffers(static_cast<int>(bufferIndex));
  executor.overwrite(bufferIndex, [&](std::byte *memory) {
    if (blob.isDouble())
      caffe::store(buffer, blob.doubles.data(), memory);
    else
      caffe::store(buffer, blob.floats.data(), memory);
  });
}

void Parameters::load(const std::string &path) {
  load(formats::readWeights(path), path);
}

void Parameters::load(const formats::Weights &weights,
                      const std::string &source) {
  const caffe::WeightBinding binding = bind(weights, source);
  write(binding);
  for (const std::string &line : unmatchedLayersLines(binding))
    info(events, log::site::ignoreLayer, line);
  if (const auto text = notFiniteText(binding); text && events)
    events->warning(log::site::ignoreLayer, source + ": " + *text);
}

void Parameters::write(const caffe::WeightBinding &binding) {
  for (const auto &[buffer, blob] : binding.values)
    write(buffer, *blob);
}

formats::Blob Parameters::zeros(const std::vector<std::int64_t> &dims) const {
  formats::Blob blob;
  blob.dims = dims;
  const auto count = static_cast<std::size_t>(caffe::product(dims));
  if (manifest.target().precision() == plan::F64)
    blob.doubles.resize(count);
  else
    blob.floats.resize(count);
  return blob;
}

formats::WeightLayer Parameters::saveLayer(const caffe::LayerBlobs &from,
                                           bool withDiffs) const {
  formats::WeightLayer layer;
  layer.name = from.name;
  layer.type = from.type;
  for (const caffe::LayerBlob &blob : from.blobs) {
    const plan::Parameter *parameter = blob.parameter;
    if (blob.sharer)
      layer.shared.insert(layer.blobs.size());
    layer.blobs.push_back(parameter ? read(parameter->buffer_index(), blob.dims)
                                    : formats::Blob{{0}, {}, {}, false});
    if (!withDiffs)
      continue;
    if (parameter && parameter->has_gradient_buffer_index())
      layer.diffs.push_back(
          read(parameter->gradient_buffer_index(), blob.dims));
    else
      layer.diffs.push_back(zeros(layer.blobs.back().dims));
  }
  return layer;
}

formats::Weights Parameters::save(bool withDiffs,
                                  const plan::Program *net) const {
  formats::Weights weights;
  weights.netName = manifest.net_name();
  std::set<std::string> listed;
  for (int i = 0; net && i < net->layers_size(); ++i) {
    const plan::Layer &from = net->layers(i);
    auto file = std::find_if(layerBlobs.begin(), layerBlobs.end(),
                             [&](const caffe::LayerBlobs &candidate) {
                               return candidate.name == from.name() &&
                                      candidate.type == from.type();
                             });
    formats::WeightLayer layer{from.name(), from.type(), {}, {}, {}};
    if (file != layerBlobs.end() && listed.insert(from.name()).second)
      layer = saveLayer(*file, withDiffs);
    layer.bottoms.assign(from.bottoms().begin(), from.bottoms().end());
    for (const std::string &top : from.tops())
      if (!top.empty())
        layer.tops.push_back(top);
    weights.layers.push_back(std::move(layer));
  }
  // Add layers that only test nets have.
  for (const caffe::LayerBlobs &from : layerBlobs)
    if (!listed.count(from.name))
      weights.layers.push_back(saveLayer(from, withDiffs));
  return weights;
}

/// Returns the number of history tensors per parameter.
int Parameters::historySlots() const {
  int slots = 1;
  for (const plan::Parameter &parameter : manifest.parameters())
    slots = std::max(slots, parameter.state_buffer_indices_size());
  return slots;
}

std::vector<formats::Blob> Parameters::history() const {
  std::vector<formats::Blob> blobs;
  for (int slot = 0; slot < historySlots(); ++slot)
    for (const plan::Parameter &parameter : manifest.parameters()) {
      const std::vector<std::int64_t> dims =
          caffe::toVector(parameter.file_dims());
      if (slot < parameter.state_buffer_indices_size()) {
        blobs.push_back(read(parameter.state_buffer_indices(slot), dims));
      } else {
        blobs.push_back(zeros(dims));
      }
    }
  return blobs;
}

void Parameters::checkHistory(const std::vector<formats::Blob> &blobs,
                              const std::string &source) const {
  std::vector<caffe::HistoryTensor> tensors;
  for (int slot = 0; slot < historySlots(); ++slot)
    for (const plan::Parameter &parameter : manifest.parameters())
      tensors.push_back(
          {parameter.layer() + "/" + std::to_string(parameter.index()),
           caffe::toVector(parameter.file_dims())});
  caffe::checkHistory(blobs, tensors, source);
}

void Parameters::setHistory(const std::vector<formats::Blob> &blobs,
                            const std::string &source) {
  checkHistory(blobs, source);
  const int count = manifest.parameters_size();
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    const plan::Parameter &parameter =
        manifest.parameters(static_cast<int>(i) % count);
    const int slot = static_cast<int>(i) / count;
    if (slot < parameter.state_buffer_indices_size())
      write(parameter.state_buffer_indices(slot), blobs[i]);
  }
}

double Parameters::gradientSumOfSquares() const {
  double sum = 0;
  for (const plan::Parameter &parameter : manifest.parameters()) {
    if (!parameter.has_gradient_buffer_index())
      continue;
    const std::uint32_t index = parameter.gradient_buffer_index();
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    const caffe::ElementOrder order(buffer);
    executor.read(index, [&](const std::byte *bytes) {
      sum += buffer.type() == plan::F64 ? sumOfSquares<double>(order, bytes)
                                        : sumOfSquares<float>(order, bytes);
    });
  }
  return sum;
}

} // namespace brew::runtime
