//===- StepSequence.cpp - Repeated steps as CUDA graphs -------------------===//
#include "runtime/cuda/StepSequence.h"

#include "support/Error.h"

namespace brew::runtime::cuda {

void StepSequence::add(DeviceStep &step) {
  if (segments.empty() || segments.back().hostLayer)
    segments.emplace_back();
  if (isHostLayer(step))
    segments.back().hostLayer = &step;
  else
    segments.back().steps.push_back(&step);
}

void StepSequence::run(const Device &device, CUdeviceptr workspace,
                       const Stream &stream,
                       const std::function<void(const std::string &)> &warn) {
  for (GraphSegment &segment : segments) {
    auto enqueueAll = [&] {
      for (DeviceStep *step : segment.steps)
        enqueue(*step, device, workspace, stream);
    };
    if (segment.runs++ == 1 && isCapturable && !segment.steps.empty()) {
      try {
        segment.graph = Graph::capture(device, stream, enqueueAll);
      } catch (const Error &error) {
        isCapturable = false;
        warn(error.what());
      }
    }
    if (segment.graph)
      segment.graph.launch(stream);
    else
      enqueueAll();
    if (segment.hostLayer)
      enqueue(*segment.hostLayer, device, workspace, stream);
  }
}

std::size_t StepSequence::graphNodes() const {
  std::size_t nodes = 0;
  for (const GraphSegment &segment : segments)
    nodes += segment.graph.nodes();
  return nodes;
}

} // namespace brew::runtime::cuda
