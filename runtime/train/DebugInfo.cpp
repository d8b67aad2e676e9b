//===- DebugInfo.cpp - Caffe's debug_info lines ---------------------------===//

#include "runtime/train/DebugInfo.h"

#include "runtime/executor/ItemCounts.h"
#include "runtime/session/Session.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

struct Norms {
  double absolute = 0; ///< sum of absolute values
  double squares = 0;  ///< sum of squares
  std::size_t count = 0;

  void add(const formats::Blob &blob) { add(blob.toDoubles()); }
  void add(const std::vector<double> &values) {
    for (double value : values) {
      absolute += std::fabs(value);
      squares += value * value;
    }
    count += values.size();
  }
  double mean() const {
    return count ? absolute / static_cast<double>(count) : 0;
  }
};

/// Returns the name under which Caffe shows a parameter: its own name, or else
/// its index in the layer.
std::string displayName(const caffe::LayerBlobs &layer, std::size_t index) {
  const plan::Parameter &parameter = *layer.blobs[index].parameter;
  return parameter.shared_name().empty() ? std::to_string(index)
                                         : parameter.shared_name();
}

} // namespace

bool DebugInfo::isCompiledIn(const plan::Program &program) {
  return std::any_of(program.layers().begin(), program.layers().end(),
                     [](const plan::Layer &layer) {
                       return layer.top_buffer_indices_size() > 0;
                     });
}

std::unique_ptr<DebugInfo>
DebugInfo::create(Session &session, int program,
                  const caffe::SolverParameter &solver) {
  const plan::Program &description = session.manifest().programs(program);
  if (!solver.debug_info() || !isCompiledIn(description))
    return nullptr;
  return std::make_unique<DebugInfo>(description, session.parameters(),
                                     session.events());
}

const caffe::LayerBlobs *
DebugInfo::findLayerBlobs(const plan::Layer &layer) const {
  for (const caffe::LayerBlobs &candidate : parameters.layers())
    if (candidate.name == layer.name() && candidate.type == layer.type())
      return &candidate;
  return nullptr;
}

std::vector<double> DebugInfo::readBlob(const std::string &name,
                                        std::uint32_t buffer) const {
  const formats::Blob blob = parameters.read(buffer, {});
  std::vector<double> values = blob.toDoubles();
  if (const plan::NamedBuffer *named = findItemCount(program, name)) {
    const formats::Blob count = parameters.read(named->buffer_index(), {});
    const double fraction =
        count.toDoubles().at(0) /
        static_cast<double>(blob.dims.at(count.dims.size()));
    values.resize(static_cast<std::size_t>(
        std::lround(static_cast<double>(values.size()) * fraction)));
  }
  return values;
}

void DebugInfo::logForward() const {
  for (const plan::Layer &layer : program.layers()) {
    const std::string start = "    [Forward] Layer " + layer.name() + ", ";
    for (int i = 0; i < layer.top_buffer_indices_size(); ++i) {
      Norms norms;
      const std::string &top = layer.tops(i);
      norms.add(readBlob(top, layer.top_buffer_indices(i)));
      events.info(log::site::debugForwardTop,
                  start + "top blob " + (top.empty() ? "(automatic)" : top) +
                      " data: " + log::number(norms.mean()));
    }
    const caffe::LayerBlobs *blobsOfLayer = findLayerBlobs(layer);
    for (std::size_t i = 0; blobsOfLayer && i < blobsOfLayer->blobs.size();
         ++i) {
      if (!blobsOfLayer->blobs[i].parameter)
        continue;
      Norms norms;
      norms.add(parameters.read(
          blobsOfLayer->blobs[i].parameter->buffer_index(), {}));
      events.info(log::site::debugForwardParam,
                  start + "param blob " + displayName(*blobsOfLayer, i) +
                      " data: " + log::number(norms.mean()));
    }
  }
}

void DebugInfo::logBackward() const {
  for (int n = program.layers_size() - 1; n >= 0; --n) {
    const plan::Layer &layer = program.layers(n);
    // With force_backward, layers that need no backward pass also have one.
    if (!layer.needs_backward() && layer.bottom_gradients().empty())
      continue;
    const std::string start = "    [Backward] Layer " + layer.name() + ", ";
    for (const plan::Layer::BottomGradient &gradient :
         layer.bottom_gradients()) {
      Norms norms;
      norms.add(readBlob(layer.bottoms(static_cast<int>(gradient.bottom())),
                         gradient.buffer_index()));
      events.info(log::site::debugBackwardBottom,
                  start + "bottom blob " +
                      layer.bottoms(static_cast<int>(gradient.bottom())) +
                      " diff: " + log::number(norms.mean()));
    }
    const caffe::LayerBlobs *blobsOfLayer = findLayerBlobs(layer);
    for (std::size_t i = 0; blobsOfLayer && i < blobsOfLayer->blobs.size();
         ++i) {
      const plan::Parameter *parameter = blobsOfLayer->blobs[i].parameter;
      if (!parameter || !parameter->has_gradient_buffer_index())
        continue;
      Norms norms;
      norms.add(parameters.read(parameter->gradient_buffer_index(), {}));
      events.info(log::site::debugBackwardParam,
                  start + "param blob " + std::to_string(i) +
                      " diff: " + log::number(norms.mean()));
    }
  }
  Norms data, diff;
  for (const caffe::LayerBlobs &layer : parameters.layers())
    for (const caffe::LayerBlob &blob : layer.blobs) {
      if (!blob.parameter || blob.sharer)
        continue;
      data.add(parameters.read(blob.parameter->buffer_index(), {}));
      if (blob.parameter->has_gradient_buffer_index())
        diff.add(parameters.read(blob.parameter->gradient_buffer_index(), {}));
    }
  // Caffe logs it as an error, so that it appears at any log level.
  events.error(log::site::debugAllParams,
               "    [Backward] All net params (data, diff): L1 norm = (" +
                   log::number(data.absolute) + ", " +
                   log::number(diff.absolute) + "); L2 norm = (" +
                   log::number(std::sqrt(data.squares)) + ", " +
                   log::number(std::sqrt(diff.squares)) + ")");
}

} // namespace brew::runtime
