//===- StepSequence.cpp - Repeated steps as CUDA graphs -------------------===//
#include "runtime/cuda/StepSequence.h"

#include "support/Error.h"

namespace brew::runtime::cuda {

void StepSequence::add(CudaStep &step) {
  if (segments.empty() || segments.back().hostLayer)
    segments.emplace_back();
  if (step.isHostLayer())
    segments.back().hostLayer = &step;
  else
    segments.back().steps.push_back(&step);
}

void StepSequence::run(const LaunchContext &context,
                       const std::function<void(const std::string &)> &warn) {
  for (GraphSegment &segment : segments) {
    auto enqueueAll = [&] {
      for (CudaStep *step : segment.steps)
        step->run(context);
    };
    if (segment.runs++ == 1 && isCapturable && !segment.steps.empty()) {
      try {
        segment.graph =
            Graph::capture(context.device, context.stream, enqueueAll);
      } catch (const Error &error) {
        isCapturable = false;
        warn(error.what());
      }
    }
    if (segment.graph)
      segment.graph.launch(context.stream);
    else
      enqueueAll();
    if (segment.hostLayer)
      segment.hostLayer->run(context);
  }
}

std::size_t StepSequence::graphNodes() const {
  std::size_t nodes = 0;
  for (const GraphSegment &segment : segments)
    nodes += segment.graph.nodes();
  return nodes;
}

} // namespace brew::runtime::cuda
